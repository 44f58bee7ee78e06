/** Reads the states of MCP tasks, which are untrusted. Pure; requesting them is in `requests.ts`. */

import { type CallToolResult, isCallToolResult, ProtocolError } from '@modelcontextprotocol/client';
import { isRecord } from '@parley/core/domain/plain-record';
import { z } from 'zod';
import { failureOf } from '../failure.ts';
import type { McpFailure, McpTaskHandle } from '../results.ts';

/** The maximum length of an id. Ids are sent back in a header and stored in the record of the call. */
const ID_MAX = 1_000;
const KEY_MAX = 200;
const KEYS_MAX = 100;
const MESSAGE_MAX = 500;

/** The pause that a server asks for; absent if its value is invalid. */
const PollMs = z.number().nonnegative().optional().catch(undefined);

const CreatedTask = z.object({
  taskId: z.string().min(1).max(ID_MAX),
  status: z.string(),
  pollIntervalMs: PollMs,
});

/** The state of a task that continues. */
export interface OpenMcpTask {
  readonly type: 'open';
  /** The requests for which the task waits, by the server's own keys, unchecked. */
  readonly requests: Readonly<Record<string, unknown>>;
  readonly pollMs?: number | undefined;
}

/** How a task ended. */
type McpTaskEnd = { readonly type: 'completed'; readonly result: CallToolResult } | McpFailure;

/** A state that cannot be read. The task may continue. */
export interface UnreadableTask {
  readonly type: 'unreadable';
  readonly message: string;
}

const DetailedTask = z.object({
  status: z.enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  statusMessage: z.string().max(100_000).optional().catch(undefined),
  pollIntervalMs: PollMs,
  inputRequests: z.record(z.string(), z.unknown()).optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});

const TaskError = z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() });

/** Reads the reply that announces a new task. */
export function readCreatedTask(reply: unknown): McpTaskHandle | McpFailure {
  const parsed = CreatedTask.safeParse(reply);
  if (!parsed.success) return invalid('The server made a task without an id that can be used.');
  const { taskId, status, pollIntervalMs: pollMs } = parsed.data;
  return { type: 'task', taskId, isWorking: status === 'working', pollMs };
}

/** Reads the state of a task. All of it is untrusted. */
export function readTask(reply: unknown): OpenMcpTask | McpTaskEnd | UnreadableTask {
  const parsed = DetailedTask.safeParse(reply);
  if (!parsed.success) return unreadable('The server says about its task something that is not MCP.');
  const {
    status,
    statusMessage,
    pollIntervalMs: pollMs,
    inputRequests: requests = {},
    result,
    error,
  } = parsed.data;
  switch (status) {
    case 'working':
      return { type: 'open', requests: {}, pollMs };
    case 'input_required':
      return areKeysUsable(requests)
        ? { type: 'open', requests, pollMs }
        : unreadable('The server asks under keys that cannot be used.');
    case 'completed':
      return readResult(result);
    case 'failed':
      return readError(error);
    case 'cancelled':
      return { type: 'refused', message: `The server cancelled its task.${said(statusMessage)}` };
  }
}

function areKeysUsable(requests: object): boolean {
  const keys = Object.keys(requests);
  return keys.length <= KEYS_MAX && keys.every((key) => key.length <= KEY_MAX);
}

function readResult(given: unknown): McpTaskEnd {
  const { resultType = 'complete', ...rest } = isRecord(given) ? given : {};
  const result = { content: [], ...rest };
  // A result that is itself a task or a round of questions is invalid here.
  return isRecord(given) && resultType === 'complete' && isCallToolResult(result)
    ? { type: 'completed', result }
    : invalid('The server completed its task with something that is no result.');
}

function readError(error: unknown): McpFailure {
  const parsed = TaskError.safeParse(error);
  if (!parsed.success) return invalid('The server’s task failed without an error.');
  const { code, message, data } = parsed.data;
  return failureOf(new ProtocolError(code, message, data), 'maybe');
}

function said(message: string | undefined): string {
  return message === undefined || message === '' ? '' : ` It said: ${message.slice(0, MESSAGE_MAX)}`;
}

function unreadable(message: string): UnreadableTask {
  return { type: 'unreadable', message };
}

function invalid(message: string): McpFailure {
  return { type: 'refused', message };
}
