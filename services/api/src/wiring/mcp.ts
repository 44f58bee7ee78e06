import { hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Env } from '@parley/shared/config/env';
import { mcpSecretsOf } from '@parley/shared/config/mcp-env';
import { createClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import type { Surface } from '../http/route.ts';
import { MCP_PATH } from '../surfaces/mcp/http/metadata.ts';
import { mcpRoutes } from '../surfaces/mcp/routes.ts';
import type { WiredAgents } from './agents.ts';
import { createAuthentication } from './authentication.ts';
import type { PodParts } from './pod-parts.ts';

// The maximum wait of a request. Clients end a request after 60 s.
const ROUND_MS = 50_000;
const PROGRESS_MS = 10_000;
const AGAIN_MS = 20_000;
const KEY_BYTES = 32;

/** Builds the MCP endpoint. */
export function wireMcp(
  { env, version, backend, engine, limits, log }: PodParts,
  { turns, hasAnswerPage, approveIn }: Pick<WiredAgents, 'turns' | 'hasAnswerPage' | 'approveIn'>,
): Surface {
  const html = readCard();
  if (html === undefined) log.info('the card for hosts of MCP Apps is not built: npm run build makes it');
  const url = env.PARLEY_MCP_URL ?? (env.PARLEY_PUBLIC_URL && new URL(MCP_PATH, env.PARLEY_PUBLIC_URL).href);
  const issuer = env.PARLEY_JWT_ISSUER;
  return mcpRoutes({
    engine,
    limits,
    turns,
    version,
    records: backend.ownerRecords.mcp,
    answerMisfits: backend.answerMisfits,
    clientRequests: createClientRequests(backend),
    subscriptionChanges: backend.subscriptionChanges,
    subscriptionsMax: env.PARLEY_MCP_SUBSCRIPTIONS,
    authenticate: createAuthentication(env, log, env.PARLEY_MCP_AUDIENCE),
    resource: { ...(url !== undefined && { url }), ...(issuer !== undefined && { issuer }) },
    origins: originsOf(env, url),
    stateKeys: stateKeysOf(env),
    sessionMs: env.PARLEY_MCP_SESSION_SECONDS * 1000,
    callMs: env.PARLEY_RETENTION_SECONDS * 1000,
    roundMs: ROUND_MS,
    progressMs: PROGRESS_MS,
    againMs: AGAIN_MS,
    connectBaseUrl: env.PARLEY_PUBLIC_URL && `${env.PARLEY_PUBLIC_URL}/auth/connect/`,
    ...(hasAnswerPage && {
      answerPage: {
        baseUrl: `${env.PARLEY_PUBLIC_URL}/auth/answer/`,
        afterMs: env.PARLEY_MCP_ANSWER_PAGE_SECONDS * 1000,
      },
    }),
    ...(html !== undefined && { card: { html, approveIn: new Set(approveIn) } }),
    onFault: (error) => log.error({ err: error }, 'MCP request failed unexpectedly'),
  });
}

/** The card, which the build writes to `dist`. Undefined if sources run that were never built. */
function readCard(): string | undefined {
  try {
    return readFileSync(new URL('../../dist/call-card.html', import.meta.url), 'utf8');
  } catch {
    return undefined;
  }
}

/** The origins whose pages may call: the listed ones, the deployment's own, and in development those of this machine. */
function originsOf(env: Env, url: string | undefined): ReadonlySet<string> {
  const own = [url, env.PARLEY_PUBLIC_URL].flatMap((one) => (one === undefined ? [] : [new URL(one).origin]));
  const local = env.NODE_ENV === 'production' ? [] : ['loopback'];
  return new Set([...env.PARLEY_CORS_ORIGINS, ...own, ...local].map((origin) => origin.toLowerCase()));
}

/** The keys for `requestState`, with the signing key first. Without a configured secret, a random key of this pod. */
export function stateKeysOf(env: Env): readonly Uint8Array[] {
  const secrets = mcpSecretsOf(env);
  if (secrets.length === 0) return [randomBytes(KEY_BYTES)];
  return secrets.map(
    (secret) => new Uint8Array(hkdfSync('sha256', secret, '', 'parley mcp request state', KEY_BYTES)),
  );
}
