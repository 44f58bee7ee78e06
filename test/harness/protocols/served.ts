/** Surfaces of the product, served in this process as a pod serves them. */
import { createServer, type IncomingMessage } from 'node:http';
import { DEFAULT_SCOPES, type Scope } from '@parley/shared/domain/service-key';
import type { Authenticate } from '../../../services/api/src/http/auth.ts';
import { createDrain } from '../../../services/api/src/http/life/drain.ts';
import { createHeartbeats } from '../../../services/api/src/http/life/heartbeats.ts';
import type { CallLimits } from '../../../services/api/src/http/limits/call-limits.ts';
import type { Surface } from '../../../services/api/src/http/route.ts';
import { createRouter } from '../../../services/api/src/http/router.ts';
import { createServe } from '../../../services/api/src/http/serve.ts';
import { unauthenticated } from '../../../services/api/src/http/token.ts';
import { listenOnFreePort } from '../free-port.ts';

export const BODY_BYTES_MAX = 64 * 1024;

export const writeFault = (error: unknown) => void process.stderr.write(`${String(error)}\n`);

export interface Served {
  readonly url: string;
  /** Ends the connections without a word, as the death of a pod would. */
  cut(): void;
  drain(): void;
  stop(): void;
}

export interface ServedOptions {
  readonly limits: CallLimits;
  /** Nobody may call by default, so that a surface must prove its callers itself. */
  readonly authenticate?: Authenticate;
  readonly heartbeatMs?: number | undefined;
  /** Called with the status of each reply. */
  readonly onReply?: (status: number) => void;
  readonly onFault?: (error: unknown) => void;
}

/** `surfacesOf` gets the address at which they are served. */
export async function serveSurfaces(
  surfacesOf: (url: string) => readonly Surface[],
  {
    limits,
    authenticate,
    heartbeatMs = 1_000,
    onReply = () => undefined,
    onFault = writeFault,
  }: ServedOptions,
): Promise<Served> {
  const drain = createDrain();
  const serve = createServe({
    authenticate:
      authenticate ??
      (async () => {
        throw unauthenticated();
      }),
    limits,
    bodyBytesMax: BODY_BYTES_MAX,
    messagesBytesMax: BODY_BYTES_MAX,
    sse: { heartbeats: createHeartbeats(heartbeatMs), slowReaderMs: 5_000, drain },
    onDone: () => undefined,
    onFault,
    onStream: () => undefined,
  });
  const server = createServer();
  const url = `http://127.0.0.1:${await listenOnFreePort(server)}`;
  const router = createRouter({ surfaces: surfacesOf(url), corsOrigins: [], serve });
  server.on('request', (request, response) => {
    response.on('finish', () => onReply(response.statusCode));
    router(request, response);
  });
  return {
    url,
    cut: () => server.closeAllConnections(),
    drain: drain.begin,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * The bearer token `<tenant>/<user>` is that person's; `key/<tenant>` and `other-key/<tenant>` are service keys that
 * may act for people, and `default-key/<tenant>` is one without scopes. The header `x-expires-at` says until when, and
 * `x-client-id` which OAuth client the token is of.
 */
export const authenticateByName: Authenticate = async ({ headers }: IncomingMessage) => {
  const [, tenant, userId] = /^Bearer ([^/]+)\/(.+)$/.exec(headers.authorization ?? '') ?? [];
  if (tenant === undefined || userId === undefined) throw unauthenticated();
  const expiresAtMs = Number(headers['x-expires-at'] ?? Number.POSITIVE_INFINITY);
  const scopes = { key: ['act'], 'other-key': ['act'], 'default-key': DEFAULT_SCOPES }[tenant] as
    | readonly Scope[]
    | undefined;
  return scopes !== undefined
    ? { caller: { kind: 'service', tenant: userId, keyId: tenant, scopes }, expiresAtMs }
    : {
        caller: { kind: 'user', tenant, userId },
        expiresAtMs,
        clientId: headers['x-client-id'] as string | undefined,
      };
};
