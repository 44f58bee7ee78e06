/**
 * The requests about a task that an MCP server made of a call. When a task is read again is decided in `pace.ts` and by the
 * callers.
 */

import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { resultOf } from '../content.ts';
import { failureOf } from '../failure.ts';
import type { McpLimits } from '../limits.ts';
import type { SendRequest } from '../request.ts';
import type { McpFailure, McpToolResult } from '../results.ts';
import type { RevisionReply } from '../revisions/needed.ts';
import type { ServerTarget } from '../target.ts';
import type { Exchange } from '../transports/exchange.ts';
import { type OpenMcpTask, readTask, type UnreadableTask } from './task.ts';

/** A request about the task of a call. */
export type TaskRequest =
  | { readonly method: 'tasks/get' | 'tasks/cancel' }
  | { readonly method: 'tasks/update'; readonly inputResponses: Readonly<Record<string, unknown>> };

export interface TaskRequestOptions {
  /** A request rejects only when this signal is aborted, with its reason. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
  /** As in the call that made the task. */
  readonly whole?: true | undefined;
}

/** The state of a task, its result, or the confirmation of a request. */
export type McpTaskReply =
  | OpenMcpTask
  | UnreadableTask
  | McpToolResult
  | { readonly type: 'taken' }
  | McpFailure;

/** Sends a request about a task. Rejects only when the caller aborts, with the signal's reason. */
type AskAboutTask = (
  target: ServerTarget,
  taskId: string,
  request: TaskRequest,
  options: TaskRequestOptions,
) => Promise<RevisionReply<McpTaskReply>>;

interface TaskRequestDeps {
  readonly sendRequest: SendRequest;
  readonly limits: McpLimits;
}

const Reply = z.looseObject({});
const UNKNOWN_TASK = 'The server does not know the task any more that it had made of it.';

export function createTaskRequests({ sendRequest, limits }: TaskRequestDeps): AskAboutTask {
  return async (target, taskId, { method, ...more }, { signal, timeoutMs = limits.callTimeoutMs, whole }) => {
    // Each request may be repeated, because servers accept equal answers only once.
    const bounds = { timeoutMs, signal, isRepeatable: () => true };
    const reply = await sendRequest(target, bounds, ({ client }, exchange) => {
      const options = { timeout: timeoutMs + limits.callTimeoutMs, signal: exchange.signal };
      const sent = client.request({ method, params: { taskId, ...more } }, Reply, options);
      // Some servers mark the state of a task as if they had just created it.
      return orTask(exchange, sent, (created) => created);
    });
    if ('error' in reply) return { result: failureOfTask(reply.error, method) };
    if (method !== 'tasks/get') return { result: { type: 'taken' } };
    const state = readTask(reply.value);
    const result =
      state.type === 'completed' ? resultOf(state.result, { bytesMax: limits.resultBytesMax, whole }) : state;
    return { result };
  };
}

/** The value of a request; or, if the server made a task instead, what `read` makes of it. */
export async function orTask<Value, Task>(
  exchange: Exchange,
  sent: Promise<Value>,
  read: (created: unknown) => Task,
): Promise<Value | Task> {
  try {
    return await sent;
  } catch (error) {
    const isUnknown = error instanceof SdkError && error.code === SdkErrorCode.UnsupportedResultType;
    if (!isUnknown || exchange.created === undefined) throw error;
    return read(exchange.created);
  }
}

function failureOfTask(error: unknown, method: TaskRequest['method']): McpFailure | UnreadableTask {
  const code = error instanceof ProtocolError ? error.code : undefined;
  if (code === ProtocolErrorCode.InvalidParams && method === 'tasks/get')
    return { type: 'lost', message: UNKNOWN_TASK };
  // A 404 says nothing about the task: a server that is being replaced cannot be found for a while.
  const isNotFound = error instanceof SdkHttpError && error.status === 404;
  if (isNotFound || code === ProtocolErrorCode.InternalError)
    return { type: 'unavailable', message: 'The server failed.', dispatched: 'maybe' };
  const failure = failureOf(error, 'maybe');
  // Such a refusal does not end the task.
  return failure.type === 'refused' ? { type: 'unreadable', message: failure.message } : failure;
}
