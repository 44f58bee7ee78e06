/** Begins a task at a remote agent exactly once, even if a reply is lost or a pod dies. What follows is in `attend.ts`. */

import { describeFault, HTTP_ERROR, isPassing, RemoteFault } from '../remote/faults.ts';
import { messageIdOf } from '../remote/message-ids.ts';
import { pauseBefore } from '../remote/task-work.ts';
import { failed, type ToolOutcome } from '../run/tool.ts';
import type { EventStream } from './exchanges.ts';
import type { OutgoingMessage, RemoteReply } from './link.ts';
import { messageOutcome } from './outcome.ts';
import { taskText } from './skills.ts';
import type { TaskRun } from './task-run.ts';

interface Begun {
  readonly type: 'begun';
  readonly events?: EventStream | undefined;
}

/**
 * How often an agent's tasks are listed to find a task whose start was not confirmed. A new task may appear in the list with a
 * delay.
 */
const FINDS_MAX = 5;

/**
 * Sends the first message of a task. If the outcome of sending is unknown, the message is sent again only to agents that
 * declare repeats to be safe. With other agents, the task is looked up by its context.
 */
export async function beginTask(run: TaskRun, task: string): Promise<Begun | ToolOutcome> {
  let mayHaveBegun = run.state.isSending;
  for (let attempt = 0; ; attempt += 1) {
    const message: OutgoingMessage = {
      messageId: messageIdOf(run.call.callKey, 'task'),
      contextId: run.state.contextId,
      part: { text: taskText(task, run.state.skill) },
      hops: run.call.hops + 1,
      skill: run.state.skill?.id,
    };
    if (mayHaveBegun && !run.link.isRepeatable) return findBegun(run, message);
    await pauseBefore(attempt, run.over);
    await run.save({ isSending: true });
    try {
      return await acceptReply(run, await run.link.send(message, run.over));
    } catch (error) {
      if (!(error instanceof RemoteFault) || run.over.aborted) throw error;
      const next = await afterFault(run, error, mayHaveBegun);
      if (typeof next !== 'boolean') return next;
      mayHaveBegun = next;
    }
  }
}

/** Returns how the task ends, or whether it may have begun. */
async function afterFault(
  run: TaskRun,
  fault: RemoteFault,
  mayHaveBegun: boolean,
): Promise<ToolOutcome | boolean> {
  // Sending the same message again would bring a reply of the same size.
  if (fault.kind === 'too_large') throw fault;
  if (fault.kind === 'unknown') return true;
  if (!mayHaveBegun) return (await notBegun(run, fault)) ?? false;
  if (!isPassing(fault)) throw fault;
  return true;
}

/**
 * Records that the agent has begun nothing. Returns undefined if the message should be sent once more without a context: some
 * agents refuse contexts that they did not create.
 */
async function notBegun(run: TaskRun, fault: RemoteFault): Promise<ToolOutcome | undefined> {
  const isContextRefused = fault.errorName === 'RequestMalformedError' && run.state.contextId !== undefined;
  await run.save({ isSending: false, ...(isContextRefused && { contextId: undefined }) });
  if (fault.kind === 'unauthorized') throw fault;
  return isContextRefused ? undefined : failed(describeFault(run.link.agent.title, fault));
}

async function acceptReply(run: TaskRun, reply: RemoteReply): Promise<Begun | ToolOutcome> {
  const { agent } = run.link;
  if (reply.type === 'message') return messageOutcome(agent.title, reply.parts, agent);
  await run.save({ ...reply.ids, isSending: false });
  return { type: 'begun', events: reply.events };
}

/**
 * Finds a task that may have begun. An unreachable agent is tried until the task's time is over. If the agent cannot list its
 * tasks, or does not list this one, the outcome of the task is unknown.
 */
async function findBegun(
  run: TaskRun,
  { contextId, messageId }: OutgoingMessage,
): Promise<Begun | ToolOutcome> {
  const { link, over } = run;
  const lost = failed(describeFault(link.agent.title, new RemoteFault('unknown')));
  for (let attempt = 0, lists = 0; lists < FINDS_MAX; attempt += 1) {
    await pauseBefore(attempt, over);
    if (attempt > 0) await run.save({});
    try {
      const task = await link.find({ contextId, messageId }, over);
      lists += 1;
      if (task === undefined) continue;
      await run.save({ taskId: task.id, contextId: task.contextId, isSending: false });
      return { type: 'begun' };
    } catch (error) {
      if (!(error instanceof RemoteFault) || over.aborted || error.kind === 'unauthorized') throw error;
      if (!isPassing(error)) return lost;
      // Agents that cannot list tasks reply with a bare error status, as a failing proxy does, so such replies count as
      // attempts.
      if (error.errorName === HTTP_ERROR) lists += 1;
    }
  }
  return lost;
}
