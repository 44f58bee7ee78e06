/** The routes that Slack calls. What a request leads to is in `listeners/`. */

import { isParleyError, ParleyError } from '@parley/core/domain/errors';
import { within } from '@parley/shared/async/time-limit';
import {
  json,
  type Reply,
  type Route,
  rawBody,
  route,
  type Surface,
  type VerifySignature,
} from '../../../http/route.ts';
import type { SlackApp } from '../app.ts';
import { type InstallDeps, installRoutes } from './install.ts';

interface SlackRoutesDeps {
  readonly app: SlackApp;
  readonly verify: VerifySignature<true>;
  readonly install: InstallDeps;
  readonly onFault: (error: unknown) => void;
}

const BODY_BYTES_MAX = 1024 * 1024;
/** The time limit of an acknowledgement. Slack waits three seconds for it. */
const ACK_MS = 2_800;

/** The routes under `/slack`: events and interactions that Slack signs, and the installation of the app. */
export function slackRoutes(deps: SlackRoutesDeps): Surface {
  return {
    routes: [
      signedRoute(deps, '/slack/events', (body) => JSON.parse(body) as Record<string, unknown>),
      signedRoute(deps, '/slack/interactions', readInteraction),
      ...installRoutes(deps.install),
    ],
  };
}

function signedRoute(
  { app, verify, onFault }: SlackRoutesDeps,
  path: string,
  read: (body: string) => Record<string, unknown>,
): Route {
  return route<undefined, Buffer, true>({
    method: 'POST',
    path,
    cors: 'never',
    proof: { by: 'signature', verifierOf: () => verify },
    body: rawBody(BODY_BYTES_MAX),
    async handle({ body: raw, header }) {
      const body = parse(raw, read);
      if (body.type === 'url_verification') return json(200, { challenge: body.challenge });
      if (body.ssl_check !== undefined) return json(200, {});
      const num = Number(header('x-slack-retry-num') ?? Number.NaN);
      const reason = header('x-slack-retry-reason');
      const retry = { ...(!Number.isNaN(num) && { num }), ...(reason !== undefined && { reason }) };
      try {
        const taken = await within(ACK_MS, app.process(body, retry));
        if (taken === undefined) throw new Error('A request of Slack took too long.');
        return acknowledge(taken);
      } catch (error) {
        if (isForeign(error))
          throw new ParleyError('forbidden', 'The app is not installed in this workspace.');
        onFault(error);
        throw new ParleyError('unavailable', 'The request was not taken; send it again.', {
          retryAfterSeconds: 1,
        });
      }
    },
  });
}

function acknowledge({ body }: { readonly body: unknown }): Reply {
  if (body === undefined || body === '') return { type: 'empty', status: 200 };
  return typeof body === 'string'
    ? { type: 'text', status: 200, body, headers: { 'content-type': 'text/plain; charset=utf-8' } }
    : json(200, body);
}

function parse(raw: Buffer, read: (body: string) => Record<string, unknown>): Record<string, unknown> {
  try {
    const body = read(raw.toString('utf8'));
    if (typeof body === 'object' && body !== null) return body;
  } catch {
    // The reply follows below.
  }
  throw new ParleyError('invalid_request', 'The body is none of Slack.');
}

function readInteraction(text: string): Record<string, unknown> {
  const fields = new URLSearchParams(text);
  const payload = fields.get('payload');
  return payload === null ? Object.fromEntries(fields) : (JSON.parse(payload) as Record<string, unknown>);
}

/** True if Bolt found no installation for the request. */
function isForeign(error: unknown): boolean {
  const { code, original } = error as { readonly code?: unknown; readonly original?: unknown };
  return code === 'slack_bolt_authorization_error' && !isParleyError(original);
}
