/**
 * Attends to a task that a server made of a call, so that any pod can continue it. Reading the protocol is in
 * `agents/mcp/tasks`.
 */

import { createTaskWake, type TaskWake } from '@parley/shared/async/task-wake';
import { withTimeLimit } from '@parley/shared/async/time-limit';
import { startWorkClock } from '@parley/shared/async/work-clock';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import type { McpServerRef } from '../../mcp/calls/mcp-tools.ts';
import { TooManyQuestions } from '../../mcp/errors.ts';
import { QuestionRefused } from '../../mcp/questions/question.ts';
import type { McpCallResult, McpUnauthorized } from '../../mcp/results.ts';
import { pollPause, restPause } from '../../mcp/tasks/pace.ts';
import type { McpTaskReply } from '../../mcp/tasks/requests.ts';
import type { OpenMcpTask } from '../../mcp/tasks/task.ts';
import type { ToolCall } from '../../run/tool.ts';
import { failureOfAsking, requestIn } from './read-asked.ts';
import type { SendRules } from './send-rules.ts';
import { createServerQuestions } from './server-questions.ts';
import { changeOf, type ServerTask } from './server-task.ts';
import { createTaskListening, type TaskListening } from './task-listening.ts';
import { createTaskQuestions, type ServerTaskQuestions } from './task-questions.ts';

/** How long a server may take to confirm the cancellation of its task, in ms. */
const CANCEL_MS = 3_000;
/** A stream is worth its request only if the turn will be held at least this much longer, in ms. */
const LISTEN_FROM_MS = 2_000;
/** The maximum size of a server's simultaneous requests, as JSON, because a run stores them. */
const OPEN_BYTES_MAX = 64_000;

/** A task while this pod attends to it. */
interface AttendedTask {
  readonly call: ToolCall;
  readonly server: McpServerRef;
  readonly rules: SendRules;
  readonly questions: ServerTaskQuestions;
  readonly wake: TaskWake;
  readonly listening: TaskListening;
  /** Aborted when the task must end, or when this pod must stop attending to it. */
  readonly over: AbortSignal;
  readonly task: ServerTask;
  /** The pause that the server last asked for. */
  pollMs: number | undefined;
  /** The time of the last change, by `performance.now()`. */
  quietSince: number;
  /** The number of successive failed requests about the task. */
  failures: number;
  /** True if the task was read with this credential. */
  isRead: boolean;
  /** Keys of open requests that were missing from the last state. */
  missing: readonly string[];
  /** Changes the task and records it. `restMs`: how long the turn will rest. */
  save(change: Partial<ServerTask>, restMs?: number): Promise<void>;
}

/**
 * Attends until its end to a task that a server made of a call: reads it, puts its requests to the person, and sends their
 * answers. Everything that another pod must know is recorded before any effect. Rejects only with the reason of the call's
 * signal.
 */
export async function attendTask(
  call: ToolCall,
  server: McpServerRef,
  rules: SendRules,
  begun: ServerTask,
): Promise<McpCallResult> {
  const clock = startWorkClock(rules.taskMs, begun.workedMs);
  const stopWork = call.work();
  const wake = createTaskWake();
  const asker = createServerQuestions(call, server, rules, begun);
  const asking = { server, questions: asker, waiting: clock.waiting, onSettled: wake.wake };
  const questions = createTaskQuestions(asking);
  const listening = createTaskListening(server, begun.taskId, wake.wake);
  const { rounds } = rules;
  let task = begun;
  let isRecorded = false;
  const attended: AttendedTask = {
    call,
    server,
    rules,
    questions,
    wake,
    listening,
    over: AbortSignal.any([call.signal, clock.over]),
    get task() {
      return task;
    },
    pollMs: begun.pollMs,
    quietSince: performance.now(),
    failures: 0,
    isRead: false,
    missing: [],
    async save(change, restMs = 0) {
      const workedMs = Math.round(clock.workedMs);
      const { sampled, opened } = asker;
      task = { ...task, ...change, sampled, opened: [...opened], pollMs: attended.pollMs, workedMs };
      if (rounds === undefined) return;
      const kept = { ...task, workedMs: workedMs + restMs };
      await call.saveRound(rounds.seal(call.callKey, kept), rounds.serverId);
      isRecorded = true;
    },
  };
  try {
    await attended.save({ isWorking: false });
    questions.start(task.open);
    // A server that has just begun a task says when to read it.
    if (begun.isWorking === true) await pause(attended);
    const result = await attend(attended);
    if (result.type !== 'unauthorized') {
      await questions.withdraw(keysOf(task));
      return result;
    }
    // The task continues with another credential. The time worked so far is kept.
    await attended.save({});
    return attended.isRead && result.status === 401 ? { ...result, wasAccepted: true } : result;
  } catch (error) {
    if (isRecorded && belongsToAnotherPod(call.signal)) throw call.signal.reason;
    await cancelTask(attended);
    call.signal.throwIfAborted();
    await questions.withdraw(keysOf(task));
    return clock.over.aborted ? { type: 'timeout', dispatched: 'maybe' } : failureOfAsking(error);
  } finally {
    listening.end();
    stopWork();
    clock.stop();
  }
}

function keysOf({ open }: ServerTask): string[] {
  return open.map(({ key }) => key);
}

async function attend(attended: AttendedTask): Promise<McpCallResult> {
  for (;;) {
    const refusal = await deliver(attended);
    const state = await read(attended);
    if (state?.type === 'unreadable') {
      await cancelTask(attended);
      return { type: 'refused', message: state.message };
    }
    if (state !== undefined && state.type !== 'open') return state;
    if (state !== undefined && refusal !== undefined) {
      // A credential that may read the task may not be allowed to answer it, so the successful read proves nothing.
      attended.isRead = false;
      return refusal;
    }
    if (state !== undefined) await takeUp(attended, state);
    await pause(attended);
  }
}

type ReadState = Exclude<McpTaskReply, { type: 'taken' }>;

/** The current state of the task. Undefined while the server cannot be read. */
async function read(attended: AttendedTask): Promise<ReadState | undefined> {
  const { server, rules, over, task } = attended;
  const { timeoutMs, whole, pages } = rules;
  const options = { signal: over, timeoutMs, ...((whole || pages) && { whole: true as const }) };
  const reply = await server.askAboutTask(task.taskId, { method: 'tasks/get' }, options);
  if (isPassing(reply)) {
    attended.failures += 1;
    return undefined;
  }
  attended.failures = 0;
  attended.isRead ||= reply.type === 'open';
  return reply.type === 'taken' ? undefined : reply;
}

/** The same request may succeed later. */
function isPassing(reply: McpTaskReply): boolean {
  return reply.type === 'unavailable' || reply.type === 'timeout';
}

/** Asks the new requests, and withdraws those that the server no longer makes. */
async function takeUp(attended: AttendedTask, { requests, pollMs }: OpenMcpTask): Promise<void> {
  const { task, rules, server, questions, missing: missedBefore } = attended;
  const { open, done, added, gone, missing } = changeOf(task, requests, missedBefore);
  attended.missing = missing.filter((key) => !gone.includes(key));
  // A changed pause alone is not recorded, because some servers change it at each read.
  attended.pollMs = pollMs;
  if (added.length === 0 && gone.length === 0) return;
  if (task.asked + added.length > rules.questionsMax) throw new TooManyQuestions(rules.questionsMax);
  if (Buffer.byteLength(JSON.stringify(open)) > OPEN_BYTES_MAX)
    throw new QuestionRefused(`The questions of the server are larger than ${OPEN_BYTES_MAX} bytes.`);
  // All are checked first: the person should not answer one in vain because another cannot be asked.
  for (const { request } of added) requestIn(request, server);
  // This is recorded before anybody is asked, so that another pod asks under the same ordinals.
  await attended.save({ open, done, asked: task.asked + added.length, rests: 0 });
  attended.quietSince = performance.now();
  questions.start(added);
  await questions.withdraw(gone);
}

/**
 * Sends the available answers. Answers that the server does not receive now are sent after the next pause. Returns a refusal if
 * the credential may not send answers.
 */
async function deliver(attended: AttendedTask): Promise<McpUnauthorized | undefined> {
  const { server, rules, over, questions } = attended;
  const answers = new Map(questions.answers());
  if (answers.size === 0) return undefined;
  const inputResponses = Object.fromEntries(answers);
  const options = { signal: over, timeoutMs: rules.timeoutMs };
  const { taskId } = attended.task;
  const reply = await server.askAboutTask(taskId, { method: 'tasks/update', inputResponses }, options);
  if (reply.type === 'unauthorized') return reply;
  if (isPassing(reply)) {
    attended.failures += 1;
    return undefined;
  }
  // Refused answers are not sent again. The state of the task shows whether that matters.
  for (const key of answers.keys()) questions.delivered(key);
  const { open, done } = attended.task;
  attended.quietSince = performance.now();
  await attended.save({
    open: open.filter(({ key }) => !answers.has(key)),
    done: [...done, ...answers.keys()],
    rests: 0,
  });
  return undefined;
}

/**
 * Waits until the task should be read again. If the turn has nothing else to do, it rests once its pod has held it for a while.
 * If it is held longer, the server is asked to report changes.
 */
async function pause({ call, wake, over, questions, task, ...attended }: AttendedTask): Promise<void> {
  const { rests } = task;
  const { pollMs, failures, quietSince, save, listening } = attended;
  const heldMs = rests === 0 ? quietSince + call.holdMs - performance.now() : 0;
  if (heldMs > LISTEN_FROM_MS) listening.begin();
  if (heldMs > 0) {
    const toldMs = listening.isTold ? heldMs : undefined;
    return wake.sleep(pollPause({ pollMs, failures, toldMs }, Math.random()), over);
  }
  const { isAsking } = questions;
  const restMs = restPause({ pollMs, rests, isAsking }, Math.random());
  await save({ rests: rests + 1 }, isAsking ? 0 : restMs);
  await call.rest(restMs, () => wake.sleep(restMs, over));
}

/** Cancels the task at the server, if the server can be reached. */
async function cancelTask({ server, task }: AttendedTask): Promise<void> {
  const cancelling = withTimeLimit(CANCEL_MS, undefined, async (signal) => {
    await server.askAboutTask(task.taskId, { method: 'tasks/cancel' }, { signal, timeoutMs: CANCEL_MS });
  });
  await cancelling.catch(() => undefined);
}
