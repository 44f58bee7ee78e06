/**
 * Attends to a remote agent's task until it ends: reads it, asks its questions, sends the answers. Beginning a task is in
 * `begin.ts`, noticing changes in `follow/`.
 */

import { createTaskWake, type TaskWake } from '@parley/shared/async/task-wake';
import { withTimeLimit } from '@parley/shared/async/time-limit';
import { isTerminalState } from '@parley/shared/domain/a2a/wire';
import { isPassing, RemoteFault } from '../remote/faults.ts';
import { messageIdOf } from '../remote/message-ids.ts';
import { createPartials } from '../remote/partials.ts';
import type { RemoteTaskResult } from '../remote/result.ts';
import { failed } from '../run/tool.ts';
import type { EventStream } from './exchanges.ts';
import { createFollower, type Follower } from './follow/follower.ts';
import { followPushes } from './follow/pushes.ts';
import { createReadPace } from './follow/read-pace.ts';
import { taskOutcome, textOfArtifacts } from './outcome.ts';
import { type AuthorizationPause, createPause } from './pause.ts';
import type { SettledQuestion } from './questions.ts';
import { readQuestions } from './read-questions.ts';
import { markOf, type RemoteTask } from './remote-task.ts';
import type { TaskRun } from './task-run.ts';

/** After a task has been attended to for this long, the person's credential is read again. */
const FRESH_MS = 60_000;
const CANCEL_MS = 3_000;
/** The longest pause before an undelivered answer is sent again, also while a stream is open. */
const RESEND_MS = 5_000;

/** The parts that attend to a task while this pod owns its run. */
interface Attendance {
  readonly run: TaskRun;
  readonly wake: TaskWake;
  readonly follower: Follower;
  /** Called once everything that was read of the task has been handled. */
  readonly attended: () => void;
  readonly pause: AuthorizationPause;
  readonly openedAt: number;
}

/** Attends to a task until it ends: puts its questions to the person, and sends their answers. */
export async function attendTask(run: TaskRun, events: EventStream | undefined): Promise<RemoteTaskResult> {
  const { link, questions, clock, over } = run;
  const taskId = run.state.taskId ?? '';
  const wake = createTaskWake();
  const ending = new AbortController();
  const signal = AbortSignal.any([over, ending.signal]);
  const follower = createFollower(link, taskId, wake, signal);
  questions.attendBy({ waiting: clock.waiting, onSettled: wake.wake });
  const pause = createPause(run, ending.signal);
  const pushed = followPushes(run, { wake, follower, signal });
  const partials = createPartials(run);
  const pace = createReadPace();
  const attending = { run, wake, follower, pause, openedAt: performance.now() };
  let seen = '';
  try {
    follower.adopt(events);
    for (;;) {
      await pace.next(over);
      const attended = pushed.reading();
      const task = await readTask(run, taskId);
      const mark = task === undefined ? seen : markOf(task);
      if (mark !== seen) follower.changed();
      seen = mark;
      if (task !== undefined && isTerminalState(task.status.state))
        return taskOutcome(link.agent.title, task, link.agent);
      if (task !== undefined) pushed.register();
      await partials.show(textOfArtifacts(task?.artifacts ?? []));
      const result = await attendOnce({ ...attending, attended }, task);
      if (result !== undefined) return result;
    }
  } finally {
    follower.close();
    pushed.close();
    ending.abort();
  }
}

/**
 * Asks and answers what the task needs now, then waits for a change. Returns the result if the task has ended, and undefined
 * while it continues.
 */
async function attendOnce(
  attendance: Attendance,
  task: RemoteTask | undefined,
): Promise<RemoteTaskResult | undefined> {
  const { run, wake, follower, attended, pause, openedAt } = attendance;
  const { link, call, over, questions } = run;
  const asked = task === undefined ? [] : readQuestions(task, link.speaksElicitation);
  if (task !== undefined) {
    const ever = questions.update(asked, run.state);
    if (ever.length > run.state.asked.length) await run.save({ asked: ever });
  }
  if (questions.isExceeded) return giveUp(run, 'asked the user too many questions');
  const settled = questions.take();
  if (settled.length > 0) {
    await sendAnswers(attendance, settled, task);
    const isOld = performance.now() - openedAt > FRESH_MS;
    return isOld && link.agent.personal !== undefined ? { type: 'again' } : undefined;
  }
  const isAuth = task?.status.state === 'TASK_STATE_AUTH_REQUIRED';
  if (task !== undefined) pause.set(isAuth && !questions.isAsking);
  if (pause.waitedMs !== run.state.waitedMs) await run.save({ waitedMs: pause.waitedMs });
  const isHopeless = !call.isAttended && asked.some(({ type }) => type === 'notice');
  if (pause.isOver || isHopeless)
    return giveUp(run, 'waited for an authorization that the user did not give');
  const readMs = follower.nextReadMs(questions.isAsking || isAuth);
  if (task !== undefined) attended();
  await wake.sleep(Math.min(readMs, pause.leftMs), over);
  return undefined;
}

/** The current state of the task. Undefined while the agent cannot be reached. */
async function readTask(run: TaskRun, taskId: string): Promise<RemoteTask | undefined> {
  const { link, over } = run;
  try {
    return await link.get(taskId, over);
  } catch (error) {
    if (!(error instanceof RemoteFault) || over.aborted) throw error;
    if (!isPassing(error)) throw error;
    // The time spent so far is recorded, so that a take-over does not start it again from zero.
    await run.save({});
    return undefined;
  }
}

async function giveUp({ link, state, questions }: TaskRun, reason: string): Promise<RemoteTaskResult> {
  const { title } = link.agent;
  questions.close();
  const cancelling = withTimeLimit(CANCEL_MS, undefined, (signal) => link.cancel(state.taskId ?? '', signal));
  await cancelling.catch(() => undefined);
  return failed(`${title} ${reason}. Its task was cancelled; it may have been done in part.`);
}

/** Sends answers one by one. If one cannot be delivered now, waits before the next attempt. */
async function sendAnswers(
  { run, follower, wake }: Attendance,
  settled: readonly SettledQuestion[],
  task: RemoteTask | undefined,
): Promise<void> {
  let isDelivered = true;
  for (const one of settled) {
    const isSent = await sendAnswer(run, follower, one, task);
    if (isSent) run.questions.delivered(one.key);
    isDelivered &&= isSent;
  }
  if (isDelivered) return follower.changed();
  await wake.sleep(Math.min(follower.nextReadMs(false), RESEND_MS), run.over);
}

/**
 * Sends an answer, unless the task's history already contains it. The record is written first, so a pod that has lost the run
 * sends nothing. Returns false if the answer was not delivered.
 */
async function sendAnswer(
  run: TaskRun,
  follower: Follower,
  { key, part, isAnswer }: SettledQuestion,
  task: RemoteTask | undefined,
): Promise<boolean> {
  const { link, call, over, state } = run;
  const { taskId, contextId, done, refusals } = state;
  const attempt = refusals[key] ?? 0;
  if (part === undefined) {
    await run.save({ refusals: { ...refusals, [key]: attempt + 1 } });
    return true;
  }
  const messageId = messageIdOf(call.callKey, key, attempt);
  await run.save({});
  try {
    if (task?.history.some((one) => one.messageId === messageId) !== true) {
      const reply = await link.send({ messageId, taskId, contextId, part }, over);
      if (reply.type === 'task') follower.adopt(reply.events);
    }
    await run.save({ done: [...done, key] });
    return true;
  } catch (error) {
    if (!(error instanceof RemoteFault) || over.aborted) throw error;
    if (error.kind === 'unauthorized' || error.kind === 'too_large') throw error;
    if (isPassing(error)) return false;
    // A question whose answer was refused is asked again if the agent still asks it. A refused message without an answer, for
    // example that the person declined, is not repeated.
    const isAgain = isAnswer && error.errorName === 'RequestMalformedError';
    await run.save(isAgain ? { refusals: { ...refusals, [key]: attempt + 1 } } : { done: [...done, key] });
    return true;
  }
}
