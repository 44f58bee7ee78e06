/**
 * Adds the project's credential to the requests of MCP servers, and renews it when a server refuses it. Obtaining credentials
 * is in `accounts/connectors`.
 */

import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import type { Presentation } from '@parley/shared/domain/credential';
import { missingScopes, scopesOfList } from '@parley/shared/domain/oauth/scopes';
import type { McpServerRef, McpTools } from './calls/mcp-tools.ts';
import type { McpFailure } from './results.ts';

/** The credentials that Parley obtains for the project itself, by the ids of servers. */
export interface ProjectCredentials {
  /** True if the calls of this server carry such a credential. */
  has(serverId: string): boolean;
  /**
   * The headers to send with a call. The credential is obtained if necessary. Throws `unavailable` while the store is
   * unavailable.
   */
  present(serverId: string, refused?: RefusedToken): Promise<Presentation>;
}

/** A token that the server refused. It is not sent again. */
interface RefusedToken {
  readonly version: number;
  /**
   * The scopes to request: those of the token and those that the server demands, separated by spaces. Absent if the token does
   * not lack scopes.
   */
  readonly scope?: string;
}

/**
 * After a new token was refused, no token is replaced for this long. Otherwise a server that refuses every token would cause a
 * new one for each call.
 */
const REFUSED_MS = 10_000;
/** Separates the project's connections from those without a credential. */
const KEY = 'project';
const UNAVAILABLE: McpFailure = {
  type: 'unavailable',
  message: 'The authorization server of the service cannot be reached at present.',
  dispatched: 'no',
};
const REFUSED: McpFailure = {
  type: 'refused',
  message:
    'The authorization server of the service gives this deployment no token, which its operator has to mend. Do not retry; tell the user.',
};

/**
 * Adds the project's credential to the requests of servers that carry no person's credential. A token that the server refuses
 * (HTTP 401), or that lacks scopes (HTTP 403), is replaced and the request is sent once more. Nobody is asked.
 */
export function withProjectAccess(
  mcp: McpTools,
  project: ProjectCredentials,
  now = () => performance.now(),
): McpTools {
  const refusedUntil = new Map<string, number>();

  return {
    ...mcp,
    get connections() {
      return mcp.connections;
    },
    open(config, credential, asked) {
      const plain = mcp.open(config, credential, asked);
      if (credential !== undefined || !project.has(config.id)) return plain;

      async function present(signal?: AbortSignal, refused?: RefusedToken) {
        const shown = await retryWhileUnavailable(() => project.present(config.id, refused), signal);
        if (shown.type === 'unavailable') return UNAVAILABLE;
        if (shown.type !== 'presented') return REFUSED;
        const { headers, version, scope } = shown;
        const server = mcp.open(config, { key: KEY, headers }, asked);
        return { type: 'granted', server, version, scope } as const;
      }

      async function send<Result extends AnyReply>(
        request: (server: McpServerRef) => Promise<Result>,
        signal?: AbortSignal,
      ): Promise<Result | McpFailure> {
        const first = await present(signal);
        if (first.type !== 'granted') return first;
        const result = await request(first.server);
        const refused = refusedToken(first, result);
        if (refused === undefined || now() < (refusedUntil.get(config.id) ?? 0)) return result;
        const last = await sendAgain(request, refused, signal);
        if (last === undefined || last.type === 'unauthorized')
          refusedUntil.set(config.id, now() + REFUSED_MS);
        return last ?? result;
      }

      /** Returns undefined if there is no other token, so that the first result stands. */
      async function sendAgain<Result>(
        request: (server: McpServerRef) => Promise<Result>,
        refused: RefusedToken,
        signal: AbortSignal | undefined,
      ): Promise<Result | McpFailure | undefined> {
        const second = await present(signal, refused);
        if (second.type !== 'granted') return refused.scope === undefined ? second : undefined;
        return second.version === refused.version ? undefined : request(second.server);
      }

      return {
        ...plain,
        listTools: (options) => send((server) => server.listTools(options), options?.signal),
        call: (name, args, options) => send((server) => server.call(name, args, options), options?.signal),
        read: (method, params, options) =>
          send((server) => server.read(method, params, options), options?.signal),
        watch: (wanted, signal) =>
          send((server) => server.watch(wanted, signal), signal).catch(() => UNAVAILABLE),
      };
    },
  };
}

interface AnyReply {
  readonly type: string;
  readonly status?: number;
  readonly scope?: string;
}

/**
 * The refusals that another token can resolve: HTTP 401, and HTTP 403 for scopes that the token lacks and that may be
 * requested.
 */
function refusedToken(
  { version, scope: granted }: { readonly version: number; readonly scope: string | undefined },
  { type, status, scope: needed = '' }: AnyReply,
): RefusedToken | undefined {
  if (type !== 'unauthorized') return undefined;
  if (status === 401) return { version };
  const missing = granted === undefined ? [] : missingScopes(granted, needed);
  return missing.length === 0
    ? undefined
    : { version, scope: [...scopesOfList(granted ?? ''), ...missing].join(' ') };
}
