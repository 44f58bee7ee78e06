/**
 * The entrance to all MCP servers of a pod, which connects pool, lists, calls, reads and watches. Each of these is in a file of
 * its own.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Implementation } from '@modelcontextprotocol/client';
import { DEFAULT_MCP_LIMITS, type McpLimits } from '../limits.ts';
import { createOpener } from '../opener.ts';
import { createPool } from '../pool.ts';
import type { AskableKinds } from '../questions/client-ask.ts';
import { createRequestSender } from '../request.ts';
import type {
  McpCallReply,
  McpFailure,
  McpReadResult,
  McpRound,
  McpToolList,
  McpUnauthorized,
} from '../results.ts';
import { createRevisionMemory, type OnRevision } from '../revisions/memory.ts';
import { createInNeededRevision } from '../revisions/needed.ts';
import type { McpCredential, McpServerConfig } from '../server-config.ts';
import { createSlots } from '../slots.ts';
import { type AskedPerson, type ServerTarget, slotOf, targetOf } from '../target.ts';
import { createTaskListen, type TaskSilence } from '../tasks/listen.ts';
import type { TaskListener } from '../tasks/notices.ts';
import {
  createTaskRequests,
  type McpTaskReply,
  type TaskRequest,
  type TaskRequestOptions,
} from '../tasks/requests.ts';
import { createChildGuard } from '../transports/child-guard.ts';
import { type Exchange, raceAbort } from '../transports/exchange.ts';
import { createCaller, type McpCallOptions } from './call.ts';
import { createReader, type ReadMethod, type ReadOptions } from './read-request.ts';
import { createToolLists } from './tool-lists.ts';
import { fetchTools } from './tool-pages.ts';
import { createWatcher, type WantedResources, type WatchEnd } from './watch.ts';

export interface McpToolsOptions {
  /** Name and version that this client sends to servers. */
  readonly clientInfo: Pick<Implementation, 'name' | 'version'>;
  readonly limits?: Partial<McpLimits>;
  /** Receives what programs write to stderr: a limited number of short lines, with secrets removed. */
  readonly onStderr?: (serverId: string, line: string) => void;
  /** Called for each reply that rejects the credential. */
  readonly onUnauthorized?: (serverId: string, status: 401 | 403) => void;
  /** Called when the revision for a server was chosen, with the reason. */
  readonly onRevision?: OnRevision;
}

/** A server with one credential. It connects at the first use. */
export interface McpServerRef {
  readonly id: string;
  readonly title: string;
  /** The kinds of requests that Parley declares to the server. Absent: none, and calls need no asker. */
  readonly modes?: AskableKinds | undefined;
  /** The tools, from the cache while it is fresh. Rejects only with the reason of `signal`. */
  listTools(options?: Pick<McpCallOptions, 'signal'>): Promise<McpToolList>;
  /** Calls a tool once, by the server's own name for it. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: McpCallOptions,
  ): Promise<McpCallReply>;
  /** Sends a request about the task that the server made of a call. Rejects only with the reason of `signal`. */
  askAboutTask(taskId: string, request: TaskRequest, options?: TaskRequestOptions): Promise<McpTaskReply>;
  /** Listens to a task until the signal aborts or the stream ends. Never rejects. */
  listenToTask(
    taskId: string,
    listener: TaskListener,
    signal: AbortSignal,
  ): Promise<TaskSilence | McpFailure>;
  /**
   * Reads prompts, resources or completions. The server can ask during the read only with an asker. Rejects only with the
   * reason of `signal`.
   */
  read(
    method: ReadMethod,
    params: Readonly<Record<string, unknown>>,
    options?: ReadOptions,
  ): Promise<McpReadResult | McpRound>;
  /** Watches resources until none are wanted or the connection breaks. Never rejects. */
  watch(wanted: WantedResources, signal: AbortSignal): Promise<WatchEnd>;
  /**
   * Replaces the headers, as after a refresh or a reconnection. The connection with the old headers gets no further
   * calls and closes after its last one.
   */
  rebuild(headers: Readonly<Record<string, string>>): void;
}

/** All MCP servers of a pod. */
export interface McpTools {
  /**
   * Opens the server with this credential or the project's own. Handles with the same server, credential key and headers share
   * one connection, and no others share it. With `asked`, the server may ask that person: the connection is then the person's
   * own, and carries one call at a time.
   */
  open(config: McpServerConfig, credential?: McpCredential, asked?: AskedPerson): McpServerRef;
  /** Number of connections that are open or being opened. */
  readonly connections: number;
  /** Ends calls, connections and child processes. Resolves when all of them have ended. */
  close(): Promise<void>;
}

/** Makes the MCP client: Streamable HTTP and stdio, protocol revisions up to 2025-11-25 and 2026-07-28. */
export function createMcpTools({
  clientInfo,
  limits: overrides,
  onStderr,
  onUnauthorized,
  onRevision = () => undefined,
}: McpToolsOptions): McpTools {
  const limits = { ...DEFAULT_MCP_LIMITS, ...overrides };
  const exchanges = new AsyncLocalStorage<Exchange>();
  const guard = createChildGuard();
  const connectionDeps = { clientInfo, limits, exchanges, guard, onStderr: onStderr ?? (() => undefined) };
  const memory = createRevisionMemory(onRevision);
  const pool = createPool<ServerTarget>({
    ...limits,
    open: createOpener(connectionDeps, memory, (target) => lists.invalidate(target)),
  });
  const sendRequest = createRequestSender(pool, exchanges);
  const lists = createToolLists<ServerTarget>(limits.toolsTtlMs, async (target) =>
    reportRefusal(target, await connected(target, (one) => fetchTools(sendRequest, one, limits))),
  );
  const call = createCaller({ sendRequest, limits, lists, retire: pool.retire });
  const inNeededRevision = createInNeededRevision(memory);
  const read = createReader({ sendRequest, limits, retire: pool.retire });
  const askAboutTask = createTaskRequests({ sendRequest, limits });
  const listenToTask = createTaskListen({ pool, limits });
  const watch = createWatcher({ pool, exchanges, limits });
  const slots = createSlots();

  /** Connections on which the server can ask carry one call at a time. Others carry any number. */
  function connected<T>(target: ServerTarget, work: (target: ServerTarget) => Promise<T>): Promise<T> {
    if (target.modes === undefined) return work(target);
    return slots.inSlot(target.key, (slot) => work(slotOf(target, slot)));
  }

  function reportRefusal<Result extends { readonly type: string } | McpUnauthorized>(
    { config }: ServerTarget,
    result: Result,
  ): Result {
    if (isUnauthorized(result)) onUnauthorized?.(config.id, result.status);
    return result;
  }

  return {
    open: (config, credential, asked) => {
      let target = targetOf(config, credential, asked);
      return {
        id: config.id,
        title: config.title,
        modes: asked?.modes,
        listTools: async ({ signal } = {}) => {
          signal?.throwIfAborted();
          const list = lists.get(target);
          // Other callers may wait for the same list, so aborting one caller does not cancel the request.
          return signal === undefined ? list : raceAbort({ signal }, list);
        },
        call: async (name, args, options = {}) => {
          options.signal?.throwIfAborted();
          const requested = { name, hasRound: options.answers !== undefined };
          const result = await inNeededRevision(target, requested, (asked) =>
            connected(asked, (one) => call(one, name, args, options)),
          );
          return reportRefusal(target, result);
        },
        askAboutTask: async (taskId, request, options = {}) => {
          options.signal?.throwIfAborted();
          // `hasRound` selects the revision that has tasks.
          const requested = { name: request.method, hasRound: true };
          const result = await inNeededRevision(target, requested, (asked) =>
            connected(asked, (one) => askAboutTask(one, taskId, request, options)),
          );
          return reportRefusal(target, result);
        },
        listenToTask: (taskId, listener, signal) =>
          inNeededRevision(target, { name: 'subscriptions/listen', hasRound: true }, async (one) => ({
            result: await listenToTask(one, taskId, listener, signal),
          })),
        read: async (method, params, options = {}) => {
          options.signal?.throwIfAborted();
          const requested = { name: nameOfRead(method, params), hasRound: options.answers !== undefined };
          const result = await inNeededRevision(target, requested, (asked) =>
            connected(asked, (one) => read(one, method, params, options)),
          );
          return reportRefusal(target, result);
        },
        watch: async (wanted, signal) => reportRefusal(target, await watch(target, wanted, signal)),
        rebuild: (headers) => {
          pool.retire(target);
          target = targetOf(config, { key: credential?.key ?? '', headers }, asked);
        },
      };
    },
    get connections() {
      return pool.size;
    },
    close: async () => {
      await pool.close();
      await guard.close();
      // Each AsyncLocalStorage in use slows down every promise of the process.
      exchanges.disable();
    },
  };
}

function isUnauthorized(result: { readonly type: string }): result is McpUnauthorized {
  return result.type === 'unauthorized';
}

/** The name of a read. No tool has a name of this form. */
function nameOfRead(method: ReadMethod, { name, uri }: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([method, name ?? uri]);
}
