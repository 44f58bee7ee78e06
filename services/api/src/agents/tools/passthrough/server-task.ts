import { z } from 'zod';
import type { McpTaskHandle } from '../../mcp/results.ts';
import type { ServerQuestions } from './server-questions.ts';

/** A request of a task, with the server's own key for it. */
const OpenTaskRequest = z.object({
  key: z.string(),
  /** Identifies its question on every pod. */
  ordinal: z.int().nonnegative(),
  request: z.unknown(),
});
export type OpenTaskRequest = z.infer<typeof OpenTaskRequest>;

/** The task that a server made of a call. It is stored in the record of the call, so that any pod can attend to it. */
export const ServerTask = z.object({
  taskId: z.string(),
  isWorking: z.boolean().optional(),
  pollMs: z.number().optional(),
  /** The number of questions in the call so far. */
  asked: z.int().nonnegative(),
  /** The number of texts that the agent's own model was asked to write in the call. */
  sampled: z.int().nonnegative(),
  /** Addresses of pages that the person agreed to open. */
  opened: z.array(z.string()),
  /** Requests that the person is answering, or whose answers the server does not have yet. */
  open: z.array(OpenTaskRequest).readonly(),
  /** Keys of requests that were answered or withdrawn. */
  done: z.array(z.string()).readonly(),
  /** How long the server has worked on it, in ms, without the waits for people. */
  workedMs: z.number(),
  /** How often the turn has rested since the task changed. */
  rests: z.int().nonnegative(),
});
export type ServerTask = z.infer<typeof ServerTask>;

/** The task that a server has just made of a call. `before` has the counts of questions that the call asked before. */
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

/** The change of a task's open requests by a state that was read. */
interface TaskRequestChange {
  readonly open: readonly OpenTaskRequest[];
  readonly done: readonly string[];
  /** Requests that are new in this state. */
  readonly added: readonly OpenTaskRequest[];
  /** Keys of requests that the server has withdrawn. */
  readonly gone: readonly string[];
  /** Keys of open requests that are missing from this state. */
  readonly missing: readonly string[];
}

/**
 * The change that a state's requests cause. Each key is asked only once. A request that is missing from two successive states
 * counts as withdrawn; one state alone may be outdated.
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
