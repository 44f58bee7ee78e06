import { z } from 'zod';
import type { McpTaskHandle } from '../../mcp/results.ts';
import type { ServerQuestions } from './server-questions.ts';

/** A request of a task, under the server's own key for it. */
const OpenTaskRequest = z.object({
  key: z.string(),
  /** Names its question, on every pod. */
  ordinal: z.int().nonnegative(),
  request: z.unknown(),
});
export type OpenTaskRequest = z.infer<typeof OpenTaskRequest>;

/** The task that a server made of a call, kept in the record of the call so that any pod can attend to it. */
export const ServerTask = z.object({
  taskId: z.string(),
  isWorking: z.boolean().optional(),
  pollMs: z.number().optional(),
  /** How many questions the call has had. */
  asked: z.int().nonnegative(),
  /** How many texts the call has had the agent's own model write. */
  sampled: z.int().nonnegative(),
  /** Addresses of pages that the person has agreed to open. */
  opened: z.array(z.string()),
  /** What the person is asked, or was asked without the server having the answer. */
  open: z.array(OpenTaskRequest).readonly(),
  /** Keys of requests that were answered or taken back. */
  done: z.array(z.string()).readonly(),
  /** How long the server has worked on it, in ms, without waits for people. */
  workedMs: z.number(),
  /** How often the turn has rested for it since it changed. */
  rests: z.int().nonnegative(),
});
export type ServerTask = z.infer<typeof ServerTask>;

/** The task of a call that a server has just answered with one. `before` has what the call asked before. */
export function newTask(
  { taskId, isWorking, pollMs }: McpTaskHandle,
  before: ServerQuestions | undefined,
): ServerTask {
  return {
    taskId,
    isWorking,
    ...(pollMs !== undefined && { pollMs }),
    asked: before?.count ?? 0,
    sampled: before?.sampled ?? 0,
    opened: [...(before?.opened ?? [])],
    open: [],
    done: [],
    workedMs: 0,
    rests: 0,
  };
}

/** What a task's open requests are, after its state was read. */
interface TaskRequestChange {
  readonly open: readonly OpenTaskRequest[];
  readonly done: readonly string[];
  /** Those that were not known before. */
  readonly added: readonly OpenTaskRequest[];
  /** Keys of those that the server has taken back. */
  readonly gone: readonly string[];
  /** Keys of those that are open and were not in this state. */
  readonly missing: readonly string[];
}

/**
 * What follows from the requests in a state. A key is asked once, however often it is seen. One that was missing from two states, one
 * after the other, was taken back: a single state may be an old one.
 */
export function changeOf(
  { open, done, asked }: Pick<ServerTask, 'open' | 'done' | 'asked'>,
  requests: Readonly<Record<string, unknown>>,
  missedBefore: readonly string[],
): TaskRequestChange {
  const missing = open.map(({ key }) => key).filter((key) => !Object.hasOwn(requests, key));
  const gone = missing.filter((key) => missedBefore.includes(key));
  const known = new Set([...open.map(({ key }) => key), ...done]);
  const added = Object.entries(requests)
    .filter(([key]) => !known.has(key))
    .map(([key, request], at) => ({ key, request, ordinal: asked + at }));
  return {
    open: [...open.filter(({ key }) => !gone.includes(key)), ...added],
    done: [...done, ...gone],
    added,
    gone,
    missing,
  };
}
