import type { Row } from '@parley/shared/domain/elicitations/row';
import { toWire } from '@parley/shared/domain/elicitations/row';
import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { ParleyError } from '@parley/shared/domain/errors';
import { keyIdOf, type Seen } from '@parley/shared/elicitations/caller';
import type { Engine } from '@parley/shared/elicitations/engine';
import { z } from 'zod';
import { bearer, json, jsonBody, type Route, route, type Surface } from '../../../http/route.ts';
import type { ConnectEvent } from '../events.ts';
import { answerPath, isOnOurPage } from '../own-pages.ts';
import { type AnswerLinks, LINK_SECONDS_MAX } from './links.ts';

const SECONDS_MIN = 60;
const SECONDS_DEFAULT = 3_600;

export interface LinkRoutesDeps {
  readonly engine: Pick<Engine, 'read'>;
  /** Absent where the deployment has no address for pages. */
  readonly pages?: { readonly publicUrl: string; readonly links: AnswerLinks };
  readonly onEvent: (event: ConnectEvent, requestId?: string) => void;
}

const LinkInput = z
  .strictObject({
    expiresInSeconds: z
      .int()
      .min(SECONDS_MIN)
      .max(LINK_SECONDS_MAX)
      .default(SECONDS_DEFAULT)
      .describe('How long the link can be opened; at most until the deadline of the question.'),
    allowSensitive: z
      .boolean()
      .default(false)
      .describe('True to make a link for a question with `sensitive: true`.'),
  })
  .meta({ id: 'AnswerLinkInput' });

const AnswerLink = z
  .object({
    url: z.url().describe('Shown once. Its part after # is a secret, which browsers do not send to servers.'),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'AnswerLink', description: 'A link with which one browser may answer one question.' });

const Revoked = z.object({ revoked: z.boolean() }).meta({ id: 'AnswerLinkRevoked' });

/** The calls by which an asker makes a link for a person without a token, and takes it back. */
export function answerLinkRoutes(deps: LinkRoutesDeps): Surface {
  return { routes: [issueRoute(deps), revokeRoute(deps)] };
}

function issueRoute({ engine, pages, onEvent }: LinkRoutesDeps): Route {
  return route({
    method: 'POST',
    path: '/v1/elicitations/:id/answer-link',
    proof: bearer('link'),
    body: jsonBody(LinkInput, { optional: true }),
    docs: {
      group: 'Questions',
      summary: 'Make a link to answer without a token',
      description:
        'The first browser that opens the link may read and answer this question, and no other one. Send it only to the person who was asked. A new link revokes the one before.',
      example: {
        body: { expiresInSeconds: 900 },
        reply: {
          url: 'https://parley.example.com/auth/answer/el_0gT3fMv7Qx2LrK8sYbWnHc4D#nD1…',
          expiresAt: '2026-01-15T09:45:00.000Z',
        },
      },
      replies: { 201: { description: 'The link', schema: AnswerLink } },
      errors: ['already_settled', 'expired'],
    },
    async handle({ caller, params, body, head, admitted }) {
      const id = params.id ?? '';
      await admitted;
      const seen = await engine.read(caller, id);
      if (pages === undefined) throw noPages();
      refuseUnlinkable(pages.publicUrl, seen, body.allowSensitive);
      const { row, now } = seen;
      const opensUntil = Math.min(now + body.expiresInSeconds * 1_000, row.expiresAt);
      const token = await pages.links.issue(id, { now, opensUntil });
      onEvent({ type: 'link', change: 'made', ...aboutOf(row), key: keyIdOf(caller) }, head.requestId);
      const link = {
        url: `${pages.publicUrl}${answerPath(id)}#${token}`,
        expiresAt: new Date(opensUntil).toISOString(),
      };
      return json(201, link, { 'cache-control': 'no-store' });
    },
  });
}

function revokeRoute({ engine, pages, onEvent }: LinkRoutesDeps): Route {
  return route({
    method: 'DELETE',
    path: '/v1/elicitations/:id/answer-link',
    proof: bearer('link'),
    docs: {
      group: 'Questions',
      summary: 'Revoke the answer link',
      description: 'The browser that opened the link can no longer read or answer the question, either.',
      example: { reply: { revoked: true } },
      replies: { 200: { description: '`revoked` is false where there was no link', schema: Revoked } },
    },
    async handle({ caller, params, head, admitted }) {
      const id = params.id ?? '';
      await admitted;
      const { row } = await engine.read(caller, id);
      const revoked = (await pages?.links.revoke(id)) ?? false;
      if (revoked)
        onEvent({ type: 'link', change: 'revoked', ...aboutOf(row), key: keyIdOf(caller) }, head.requestId);
      return json(200, { revoked });
    },
  });
}

function aboutOf({ id, definition }: Row) {
  return { elicitationId: id, tenant: definition.tenant };
}

/** Throws where no link could lead to an answer. */
function refuseUnlinkable(publicUrl: string, { row, now }: Seen, allowSensitive: boolean): void {
  if (isTerminal(row.status) || now >= row.expiresAt) {
    const isLate = row.status === 'expired' || !isTerminal(row.status);
    throw new ParleyError(
      isLate ? 'expired' : 'already_settled',
      isLate ? 'The deadline of this elicitation has passed.' : `This elicitation is already ${row.status}.`,
      { elicitation: toWire(row, { now, content: true }) },
    );
  }
  if (isOnOurPage(publicUrl, row))
    throw refused(
      '',
      'is asked on the connect page, where the person signs in; send the `url` of the elicitation',
    );
  if (row.definition.sensitive === true && !allowSensitive)
    throw refused('allowSensitive', 'must be true for a sensitive question; a link can reach another person');
}

function refused(path: string, message: string): ParleyError {
  return new ParleyError('invalid_request', 'There can be no answer link for this question; see errors.', {
    issues: [{ path, message }],
  });
}

function noPages(): ParleyError {
  return new ParleyError(
    'invalid_request',
    'Answer links need PARLEY_PUBLIC_URL, the address at which browsers reach Parley. It is not set.',
  );
}
