import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { type Implementation, ProtocolError, type Tool } from '@modelcontextprotocol/client';
import { DEFAULT_MCP_LIMITS, type McpLimits } from '../limits.ts';
import { createOpener, type ServerPlace } from '../opener.ts';
import { createPool } from '../pool.ts';
import { createReach } from '../reach.ts';
import type { McpCredential, McpServerConfig } from '../server-config.ts';
import { createChildGuard } from '../transports/child-guard.ts';
import { type Exchange, orFailed } from '../transports/exchange.ts';
import { resultOf, tooLarge } from './content.ts';
import { failureOf } from './failure.ts';
import { MessageTooLarge } from './faults.ts';
import type { McpCallResult, McpProgress, McpToolList } from './results.ts';
import { createScrub } from './scrub.ts';
import { createToolLists } from './tool-lists.ts';
import { fetchTools } from './tool-pages.ts';

export interface McpToolsOptions {
  /** How this client names itself to servers. */
  readonly clientInfo: Pick<Implementation, 'name' | 'version'>;
  readonly limits?: Partial<McpLimits>;
  /** What programs say on stderr: a few short lines, without the secrets they were given. */
  readonly onStderr?: (serverId: string, line: string) => void;
  /** Told of every reply that refuses the credential it was given. */
  readonly onUnauthorized?: (serverId: string, status: 401 | 403) => void;
}

export interface McpCallOptions {
  /** Aborting it is the only thing that makes a call throw, and then with the signal's reason. */
  readonly signal?: AbortSignal;
  /** For all of it, a connection that must be opened included. */
  readonly timeoutMs?: number;
  /** For this call only, over HTTP only, such as a trace context; never a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly onProgress?: (progress: McpProgress) => void;
}

/** A server for one credential. Costs nothing to make; connects when it is used. */
export interface McpServer {
  readonly id: string;
  readonly title: string;
  /** The tools, from the cache if they were asked for not long ago. Throws only the reason of `signal`. */
  listTools(options?: Pick<McpCallOptions, 'signal'>): Promise<McpToolList>;
  /** Calls a tool by the server's own name for it, once. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: McpCallOptions,
  ): Promise<McpCallResult>;
  /**
   * Goes on with these headers, as after a refresh or a reconnection. The connection with the old ones takes no more
   * calls and ends with its last one.
   */
  rebuild(headers: Readonly<Record<string, string>>): void;
}

/** All MCP servers of a pod. */
export interface McpTools {
  /**
   * The server, for this credential or for the project's own. Handles of the same server, credential key and headers
   * share one connection; nothing else ever does.
   */
  open(config: McpServerConfig, credential?: McpCredential): McpServer;
  /** Connections that are open or being opened. */
  readonly connections: number;
  /** Ends calls, connections and children; resolves when none is left. */
  close(): Promise<void>;
}

// JSON-RPC code of the 2026-07-28 revision: a header does not repeat its argument. Nothing was done.
const HEADER_MISMATCH = -32020;

/** Makes the client side of MCP: Streamable HTTP and stdio, protocol revisions up to 2025-11-25 and 2026-07-28. */
export function createMcpTools({
  clientInfo,
  limits: some,
  onStderr,
  onUnauthorized,
}: McpToolsOptions): McpTools {
  const limits = { ...DEFAULT_MCP_LIMITS, ...some };
  const exchanges = new AsyncLocalStorage<Exchange>();
  const guard = createChildGuard();
  const linkDeps = { clientInfo, limits, exchanges, guard, onStderr: onStderr ?? (() => undefined) };
  const pool = createPool<ServerPlace>({
    ...limits,
    open: createOpener(linkDeps, (place) => lists.forget(place)),
  });
  const reach = createReach(pool, exchanges);
  const lists = createToolLists<ServerPlace>(limits.toolsTtlMs, async (place) =>
    noting(place, await fetchTools(reach, place, limits)),
  );

  function noting<Result extends McpCallResult | McpToolList>(
    { config }: ServerPlace,
    result: Result,
  ): Result {
    if (result.type === 'unauthorized') onUnauthorized?.(config.id, result.status);
    return result;
  }

  async function call(
    place: ServerPlace,
    name: string,
    args: Readonly<Record<string, unknown>>,
    { timeoutMs = limits.callTimeoutMs, signal, headers, onProgress }: McpCallOptions,
  ): Promise<McpCallResult> {
    const scrub = createScrub(place.config, place.credential);
    const until = performance.now() + timeoutMs;
    const callOnce = () =>
      reach(place, { timeoutMs: Math.max(until - performance.now(), 1), signal }, ({ client }, ending) =>
        client.callTool(
          { name, arguments: { ...args } },
          {
            signal: ending,
            // Only a net: the exchange ends the call, with the connection counted in.
            timeout: timeoutMs + 1_000,
            toolDefinition: definitionOf(place, name),
            ...(headers !== undefined && { headers }),
            ...(onProgress !== undefined && { onprogress: onProgress }),
          },
        ),
      );
    let reached = await callOnce();
    if ('error' in reached && isHeaderMismatch(reached.error)) {
      lists.forget(place);
      await lists.get(place);
      signal?.throwIfAborted();
      reached = await callOnce();
    }
    if (!('error' in reached)) return resultOf(reached.value, limits.resultBytesMax, scrub);
    if (reached.error instanceof MessageTooLarge) return tooLarge(limits.resultBytesMax);
    return failureOf(reached.error, reached.left, scrub);
  }

  /** From what is known, without the output schema: the SDK would refuse results that do not fit it. */
  function definitionOf(place: ServerPlace, name: string): Tool {
    const known = lists.known(place)?.tools.find((tool) => tool.name === name);
    return { name, inputSchema: { ...known?.inputSchema, type: 'object' } };
  }

  return {
    open: (config, credential) => {
      let place = placeOf(config, credential);
      return {
        id: config.id,
        title: config.title,
        listTools: async ({ signal } = {}) => {
          signal?.throwIfAborted();
          const list = lists.get(place);
          // Others may wait for the same list, so a caller who leaves does not end it.
          return signal === undefined ? list : orFailed({ signal }, list);
        },
        call: async (name, args, options = {}) => {
          options.signal?.throwIfAborted();
          return noting(place, await call(place, name, args, options));
        },
        rebuild: (headers) => {
          pool.retire(place);
          place = placeOf(config, { key: credential?.key ?? '', headers });
        },
      };
    },
    get connections() {
      return pool.size;
    },
    close: async () => {
      await pool.close();
      await guard.close();
    },
  };
}

function placeOf(config: McpServerConfig, credential: McpCredential | undefined): ServerPlace {
  const key = JSON.stringify([config.id, credential?.key ?? '']);
  const all = [key, config.transport, Object.entries(credential?.headers ?? {}).sort()];
  const fingerprint = createHash('sha256').update(JSON.stringify(all)).digest('base64url');
  return { key, fingerprint, config, credential };
}

function isHeaderMismatch(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === HEADER_MISMATCH;
}
