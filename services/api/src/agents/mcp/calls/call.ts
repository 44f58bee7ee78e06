/**
 * Calls a tool of an MCP server, with its questions, rounds, tasks and repetitions. Choosing the connection is in
 * `mcp-tools.ts`, classifying errors in `failure.ts`.
 */

import {
  type CallToolResult,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  ProtocolError,
  type Tool,
} from '@modelcontextprotocol/client';
import type { McpConnection } from '../connection.ts';
import { resultOf, textOf, tooLarge } from '../content.ts';
import { MessageTooLarge } from '../errors.ts';
import { failureOf } from '../failure.ts';
import type { McpLimits } from '../limits.ts';
import type { McpAsker } from '../questions/asker.ts';
import { sendAsking } from '../questions/required-pages.ts';
import type { SendRequest } from '../request.ts';
import type {
  McpCallReply,
  McpFailure,
  McpLogMessage,
  McpProgress,
  McpRound,
  McpTaskHandle,
} from '../results.ts';
import { neededAfter } from '../revisions/evidence.ts';
import type { RevisionReply } from '../revisions/needed.ts';
import type { McpRevision } from '../server-config.ts';
import type { ServerTarget } from '../target.ts';
import { orTask } from '../tasks/requests.ts';
import { readCreatedTask } from '../tasks/task.ts';
import type { RunningExchange } from '../transports/exchange.ts';
import type { ToolLists } from './tool-lists.ts';

export interface McpCallOptions {
  /** A call rejects only when this signal is aborted, with its reason. */
  readonly signal?: AbortSignal;
  /** The time limit of the whole call, including the time to open a connection. */
  readonly timeoutMs?: number;
  /** Headers of this call, such as a trace context. HTTP only. Never a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly onProgress?: (progress: McpProgress) => void;
  /** Receives what the server logs about the call. Only over HTTP, where such messages name their request. */
  readonly onLog?: (message: McpLogMessage) => void;
  /** True if the result is also kept as the server sent it, with binary data, for callers other than models. */
  readonly whole?: true;
  /** Answers what the server asks during the call. Required if the handle has a person to ask. */
  readonly asker?: McpAsker | undefined;
  /** The answers to the round that the call returned before, by its keys, and the server's state. */
  readonly answers?: {
    readonly inputResponses?: Readonly<Record<string, unknown>>;
    readonly requestState?: string;
  };
}

interface CallerDeps {
  readonly sendRequest: SendRequest;
  readonly limits: McpLimits;
  readonly lists: ToolLists<ServerTarget>;
  /** Excludes the target's connection from further calls. */
  readonly retire: (target: ServerTarget) => void;
}

/** Calls a tool, by the server's own name for it. Rejects only when the caller aborts, with the signal's reason. */
type CallServerTool = (
  target: ServerTarget,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: McpCallOptions,
) => Promise<RevisionReply<McpCallReply>>;

// JSON-RPC code of the 2026-07-28 revision: a header does not match its argument. The call was not executed.
const HEADER_MISMATCH = -32020;
// The SDK's own timeout is disabled in effect. The exchange ends the call instead: it also counts the time to connect, and does
// not count waits for people.
const SDK_TIMEOUT_MS = 2 ** 31 - 1;

interface SentCall {
  readonly target: ServerTarget;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: McpCallOptions;
}

export function createCaller({ sendRequest, limits, lists, retire }: CallerDeps): CallServerTool {
  /**
   * The definition comes from the cached list, without the output schema: the SDK would refuse results that do not match it.
   */
  function definitionOf(target: ServerTarget, name: string): Tool {
    const known = lists.cached(target)?.tools.find((tool) => tool.name === name);
    return { name, inputSchema: { ...known?.inputSchema, type: 'object' } };
  }

  /** If the list is not known, the call counts as one with an effect. */
  function isRepeatable(target: ServerTarget, name: string): boolean {
    const hints = lists.cached(target)?.tools.find((tool) => tool.name === name)?.hints;
    return hints !== undefined && (hints.readOnlyHint || hints.idempotentHint);
  }

  async function send(
    { target, name, args, options }: SentCall,
    { client, questions, revision }: McpConnection,
    exchange: RunningExchange,
  ): Promise<CallToolResult | McpTaskHandle | McpFailure> {
    const { asker, answers, headers, onProgress, onLog } = options;
    exchange.onLog = onLog;
    const isModern = revision === '2026-07-28';
    // A server of the 2026 revision sends log messages only if the request asks for them.
    const meta = onLog !== undefined && isModern && { _meta: { [LOG_LEVEL_META_KEY]: 'debug' } };
    const sendOnce = () =>
      client.callTool(
        { name, arguments: { ...args }, ...answers, ...meta },
        {
          signal: exchange.signal,
          timeout: SDK_TIMEOUT_MS,
          toolDefinition: definitionOf(target, name),
          allowInputRequired: asker !== undefined,
          ...(headers !== undefined && { headers }),
          ...(onProgress !== undefined && { onprogress: onProgress }),
        },
      );
    const asking = { asker, exchange, questions, modes: target.modes };
    return orTask(exchange, sendAsking(sendOnce, asking), readCreatedTask);
  }

  return async (target, name, args, options) => {
    const { timeoutMs = limits.callTimeoutMs, signal, whole } = options;
    const until = performance.now() + timeoutMs;
    let revision: McpRevision | undefined;
    let hasAsked = false;
    const asker =
      options.asker &&
      notingAsker(options.asker, () => {
        hasAsked = true;
      });
    const mayRepeat = () => isRepeatable(target, name);
    const replyAfter = (result: McpCallReply, failure: unknown) => {
      const need = neededAfter(failure, revision, { isRepeatable: mayRepeat, hasAsked });
      // The next connection may have another revision.
      if (need !== undefined) forget(target);
      return { result, need };
    };
    const callOnce = () => {
      const bounds = {
        timeoutMs: Math.max(until - performance.now(), 1),
        signal,
        isRepeatable: mayRepeat,
      };
      return sendRequest(target, bounds, (connection, exchange) => {
        revision = connection.revision;
        return send({ target, name, args, options: { ...options, asker } }, connection, exchange);
      });
    };
    try {
      let reply = await callOnce();
      if ('error' in reply && reply.error instanceof ProtocolError && reply.error.code === HEADER_MISMATCH) {
        lists.invalidate(target);
        await lists.get(target);
        signal?.throwIfAborted();
        reply = await callOnce();
      }
      if (!('error' in reply)) {
        const result = replyOf(reply.value, limits, whole);
        const hasFailed = result.type === 'result' && result.isError;
        return replyAfter(result, hasFailed ? textOf(result.content) : undefined);
      }
      const { error, dispatched } = reply;
      // The server may still work on a call that ended without its reply. Its questions must not reach the next call.
      if (!(error instanceof ProtocolError)) forget(target);
      if (error instanceof MessageTooLarge) return { result: tooLarge(limits.resultBytesMax) };
      return replyAfter(failureOf(error, dispatched), error);
    } catch (error) {
      forget(target);
      throw error;
    }
  };

  function forget(target: ServerTarget): void {
    if (target.modes !== undefined) retire(target);
  }
}

/** Wraps an asker to report that it was used. */
function notingAsker(asker: McpAsker, onAsked: () => void): McpAsker {
  return {
    ask(read, withdrawn) {
      onAsked();
      return asker.ask(read, withdrawn);
    },
    visit(pages, completed) {
      onAsked();
      return asker.visit(pages, completed);
    },
  };
}

function replyOf(
  reply: CallToolResult | McpTaskHandle | McpFailure,
  limits: McpLimits,
  whole: true | undefined,
): McpCallReply {
  if (isNoResult(reply)) return reply;
  return isInputRequiredResult(reply)
    ? roundOf(reply, limits.roundBytesMax)
    : resultOf(reply, { bytesMax: limits.resultBytesMax, whole });
}

/** Results of servers have no `type` from Parley; their content tells which kind they are. */
function isNoResult(reply: CallToolResult | McpTaskHandle | McpFailure): reply is McpTaskHandle | McpFailure {
  return 'type' in reply && !('content' in reply);
}

/** A round of questions. It is refused if it is larger than `bytesMax`. */
export function roundOf(
  { inputRequests = {}, requestState: state }: { inputRequests?: object; requestState?: string },
  bytesMax: number,
): McpRound | McpFailure {
  const round: McpRound = {
    type: 'round',
    requests: { ...inputRequests },
    ...(state !== undefined && { state }),
  };
  return Buffer.byteLength(JSON.stringify(round)) > bytesMax
    ? { type: 'refused', message: `The questions of the server are larger than ${bytesMax} bytes.` }
    : round;
}
