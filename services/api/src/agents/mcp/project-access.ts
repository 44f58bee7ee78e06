import type { Presentation } from '@parley/shared/domain/credential';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { McpServerRef, McpTools } from './calls/mcp-tools.ts';
import type { McpFailure } from './calls/results.ts';

/** The credentials that Parley obtains for the project itself, by the ids of servers. */
export interface ProjectCredentials {
  /** Whether the calls of this server carry one. */
  has(serverId: string): boolean;
  /**
   * The headers to send with a call, obtained if necessary. `rejected` is the version that the server refused; it is not
   * presented again. Throws `unavailable` while the store is unavailable.
   */
  present(serverId: string, rejected?: number): Promise<Presentation>;
}

/** No token is replaced for so long after a new one was refused: a server may refuse all, and each call would take one. */
const REFUSED_MS = 10_000;
/** Connections of the project are not those without a credential. */
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
 * The servers with the project's credential in each of their requests that has none of a person. A token that the server
 * refuses (HTTP 401) is replaced, and the request sent once more; nobody is asked.
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

      async function present(signal?: AbortSignal, rejected?: number) {
        const shown = await retryWhileUnavailable(() => project.present(config.id, rejected), signal);
        if (shown.type === 'unavailable') return UNAVAILABLE;
        if (shown.type !== 'presented') return REFUSED;
        const { headers, version } = shown;
        return { type: 'granted', server: mcp.open(config, { key: KEY, headers }, asked), version } as const;
      }

      async function send<Result extends { readonly type: string }>(
        request: (server: McpServerRef) => Promise<Result>,
        signal?: AbortSignal,
      ): Promise<Result | McpFailure> {
        const first = await present(signal);
        if (first.type !== 'granted') return first;
        const result = await request(first.server);
        if (!isUnauthenticated(result) || now() < (refusedUntil.get(config.id) ?? 0)) return result;
        const second = await present(signal, first.version);
        if (second.type !== 'granted') return second;
        if (second.version === first.version) return result;
        const last = await request(second.server);
        if (isUnauthenticated(last)) refusedUntil.set(config.id, now() + REFUSED_MS);
        return last;
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

function isUnauthenticated(result: { readonly type: string; readonly status?: number }): boolean {
  return result.type === 'unauthorized' && result.status === 401;
}
