import { withTimeLimit } from '@parley/shared/async/time-limit';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import { describeFault, FATE_UNKNOWN, RemoteFault } from '../remote/faults.ts';
import type { RemoteTaskResult } from '../remote/result.ts';
import { startTaskWork } from '../remote/task-work.ts';
import { failed } from '../run/tool.ts';
import { attendTask } from './attend.ts';
import { beginTask } from './begin.ts';
import { newCheckpoint, parseTaskCheckpoint } from './checkpoint.ts';
import type { EventStream } from './exchanges.ts';
import type { GivenTask } from './skills.ts';
import type { TaskRun } from './task-run.ts';

/** How long the agent may take to confirm the cancellation of its task, in ms. */
const CANCEL_MS = 3_000;

/**
 * Gives a task to a remote agent, or continues a task that this pod or another one began. Each message is recorded before and
 * after it is sent, so that a task is begun only once. Rejects only with the reason of the call's signal.
 */
export async function runRemoteTask(
  parts: Pick<TaskRun, 'link' | 'rules' | 'questions' | 'pushes' | 'call'>,
  { task, skill }: GivenTask,
): Promise<RemoteTaskResult> {
  const { link, call } = parts;
  const { title } = link.agent;
  const recorded = call.round();
  const before = recorded === undefined ? newCheckpoint(call.callKey, skill) : parseTaskCheckpoint(recorded);
  if (before === undefined) return failed(`The task of ${title} can no longer be found. ${FATE_UNKNOWN}`);
  const run: TaskRun = startTaskWork(parts, before);
  const { clock, over } = run;
  let events: EventStream | undefined;
  try {
    over.throwIfAborted();
    if (run.state.taskId === undefined) {
      const begun = await beginTask(run, task);
      if (begun.type !== 'begun') return begun;
      events = begun.events;
    }
    return await attendTask(run, events);
  } catch (error) {
    events?.close();
    if (call.signal.aborted) {
      // If the run belongs to another pod, that pod continues the same task.
      if (!belongsToAnotherPod(call.signal)) await cancelTask(run);
      throw call.signal.reason;
    }
    if (error instanceof RemoteFault && error.kind === 'unauthorized')
      return { type: 'unauthorized', status: error.status };
    await cancelTask(run);
    if (clock.over.aborted) return failed(describeTimeout(run));
    if (error instanceof RemoteFault) return failed(describeFault(title, error));
    throw error;
  } finally {
    clock.stop();
  }
}

function describeTimeout({ link: { agent }, state: { taskId, isSending } }: TaskRun): string {
  const { title } = agent;
  if (taskId === undefined && isSending) return describeFault(title, new RemoteFault('unknown'));
  return `${title} did not finish in time. The task may have been done in part.`;
}

/** Cancels the task at the agent, if the agent can be reached. */
async function cancelTask({ link, state, questions }: TaskRun): Promise<void> {
  questions.close();
  try {
    await withTimeLimit(CANCEL_MS, undefined, async (signal) => {
      let { taskId } = state;
      if (taskId === undefined && state.isSending && state.contextId !== undefined)
        taskId = (await link.find({ contextId: state.contextId, messageId: '' }, signal))?.id;
      if (taskId !== undefined) await link.cancel(taskId, signal);
    });
  } catch {
    // The task may already have ended, or cannot be cancelled.
  }
}
