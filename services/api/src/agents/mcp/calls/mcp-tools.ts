import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { type Implementation, ProtocolError, type Tool } from '@modelcontextprotocol/client';
import { MessageTooLarge } from '../errors.ts';
import { DEFAULT_MCP_LIMITS, type McpLimits } from '../limits.ts';
import { createOpener, type ServerTarget } from '../opener.ts';
import { createPool } from '../pool.ts';
import { createRequestSender } from '../request.ts';
import type { McpCredential, McpServerConfig } from '../server-config.ts';
import { createChildGuard } from '../transports/child-guard.ts';
import { type Exchange, raceAbort } from '../transports/exchange.ts';
import { resultOf, tooLarge } from './content.ts';
import { failureOf } from './failure.ts';
import type { McpCallResult, McpProgress, McpToolList } from './results.ts';
import { createScrub } from './scrub.ts';
import { createToolLists } from './tool-lists.ts';
import { fetchTools } from './tool-pages.ts';

export interface McpToolsOptions {
  /** Name and version that this client sends to servers. */
  readonly clientInfo: Pick<Implementation, 'name' | 'version'>;
  readonly limits?: Partial<McpLimits>;
  /** Receives what programs write to stderr: a limited number of short lines, with secrets removed. */
  readonly onStderr?: (serverId: string, line: string) => void;
  /** Called for every reply that refuses the credential. */
  readonly onUnauthorized?: (serverId: string, status: 401 | 403) => void;
}

export interface McpCallOptions {
  /** A call rejects only when this signal is aborted, with its reason. */
  readonly signal?: AbortSignal;
  /** For the whole call, including the time to open a connection. */
  readonly timeoutMs?: number;
  /** Headers of this call, such as a trace context. HTTP only. Never a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly onProgress?: (progress: McpProgress) => void;
  /** True: the result is also kept as the server sent it, with binary data, for a caller that is no model. */
  readonly whole?: true;
}

/** A server with one credential. It connects at the first use. */
export interface McpServerRef {
  readonly id: string;
  readonly title: string;
  /** The tools, from the cache while it is fresh. Rejects only with the reason of `signal`. */
  listTools(options?: Pick<McpCallOptions, 'signal'>): Promise<McpToolList>;
  /** Calls a tool once, by the server's own name for it. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: McpCallOptions,
  ): Promise<McpCallResult>;
  /**
   * Replaces the headers, as after a refresh or a reconnection. The connection with the old headers gets no further
   * calls and closes after its last one.
   */
  rebuild(headers: Readonly<Record<string, string>>): void;
}

/** All MCP servers of a pod. */
export interface McpTools {
  /**
   * The server, with this credential or with the project's own. Handles with the same server, credential key and
   * headers share one connection. No others share it.
   */
  open(config: McpServerConfig, credential?: McpCredential): McpServerRef;
  /** Number of connections that are open or being opened. */
  readonly connections: number;
  /** Ends calls, connections and child processes. Resolves when all of them have ended. */
  close(): Promise<void>;
}

// JSON-RPC code of the 2026-07-28 revision: a header does not match its argument. The call was not executed.
const HEADER_MISMATCH = -32020;

/** Makes the MCP client: Streamable HTTP and stdio, protocol revisions up to 2025-11-25 and 2026-07-28. */
export function createMcpTools({
  clientInfo,
  limits: overrides,
  onStderr,
  onUnauthorized,
}: McpToolsOptions): McpTools {
  const limits = { ...DEFAULT_MCP_LIMITS, ...overrides };
  const exchanges = new AsyncLocalStorage<Exchange>();
  const guard = createChildGuard();
  const connectionDeps = { clientInfo, limits, exchanges, guard, onStderr: onStderr ?? (() => undefined) };
  const pool = createPool<ServerTarget>({
    ...limits,
    open: createOpener(connectionDeps, (target) => lists.invalidate(target)),
  });
  const sendRequest = createRequestSender(pool, exchanges);
  const lists = createToolLists<ServerTarget>(limits.toolsTtlMs, async (target) =>
    reportRefusal(target, await fetchTools(sendRequest, target, limits)),
  );

  function reportRefusal<Result extends McpCallResult | McpToolList>(
    { config }: ServerTarget,
    result: Result,
  ): Result {
    if (result.type === 'unauthorized') onUnauthorized?.(config.id, result.status);
    return result;
  }

  async function call(
    target: ServerTarget,
    name: string,
    args: Readonly<Record<string, unknown>>,
    { timeoutMs = limits.callTimeoutMs, signal, headers, onProgress, whole }: McpCallOptions,
  ): Promise<McpCallResult> {
    const scrub = createScrub(target.config, target.credential);
    const until = performance.now() + timeoutMs;
    const callOnce = () =>
      sendRequest(
        target,
        { timeoutMs: Math.max(until - performance.now(), 1), signal },
        ({ client }, ending) =>
          client.callTool(
            { name, arguments: { ...args } },
            {
              signal: ending,
              // A fallback: the exchange ends the call earlier, because it also counts the time to connect.
              timeout: timeoutMs + 1_000,
              toolDefinition: definitionOf(target, name),
              ...(headers !== undefined && { headers }),
              ...(onProgress !== undefined && { onprogress: onProgress }),
            },
          ),
      );
    let reply = await callOnce();
    if ('error' in reply && isHeaderMismatch(reply.error)) {
      lists.invalidate(target);
      await lists.get(target);
      signal?.throwIfAborted();
      reply = await callOnce();
    }
    if (!('error' in reply)) return resultOf(reply.value, { bytesMax: limits.resultBytesMax, scrub, whole });
    if (reply.error instanceof MessageTooLarge) return tooLarge(limits.resultBytesMax);
    return failureOf(reply.error, reply.dispatched, scrub);
  }

  /** From the cached list, without the output schema: the SDK would refuse results that do not match it. */
  function definitionOf(target: ServerTarget, name: string): Tool {
    const known = lists.cached(target)?.tools.find((tool) => tool.name === name);
    return { name, inputSchema: { ...known?.inputSchema, type: 'object' } };
  }

  return {
    open: (config, credential) => {
      let target = targetOf(config, credential);
      return {
        id: config.id,
        title: config.title,
        listTools: async ({ signal } = {}) => {
          signal?.throwIfAborted();
          const list = lists.get(target);
          // Other callers may wait for the same list, so an aborted caller does not cancel it.
          return signal === undefined ? list : raceAbort({ signal }, list);
        },
        call: async (name, args, options = {}) => {
          options.signal?.throwIfAborted();
          return reportRefusal(target, await call(target, name, args, options));
        },
        rebuild: (headers) => {
          pool.retire(target);
          target = targetOf(config, { key: credential?.key ?? '', headers });
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

function targetOf(config: McpServerConfig, credential: McpCredential | undefined): ServerTarget {
  const key = JSON.stringify([config.id, credential?.key ?? '']);
  const all = [key, config.transport, Object.entries(credential?.headers ?? {}).sort()];
  const fingerprint = createHash('sha256').update(JSON.stringify(all)).digest('base64url');
  return { key, fingerprint, config, credential };
}

function isHeaderMismatch(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === HEADER_MISMATCH;
}
