import { setTimeout as sleep } from 'node:timers/promises';
import { startWorkClock } from '@parley/shared/async/work-clock';
import type { CalledFor } from '../remote/called-agent.ts';
import { describeFault, describeUnfollowed, RemoteFault } from '../remote/faults.ts';
import type { RemoteTaskResult } from '../remote/result.ts';
import { failed, type ToolCall, type ToolOutcome } from '../run/tool.ts';
import { parseTaskCheckpoint, type TaskCheckpoint } from './checkpoint.ts';
import type { RemoteLink } from './link.ts';
import type { RemoteQuestions } from './questions.ts';
import type { RemoteAgentTarget } from './remote-agent.ts';
import type { RemoteAgents } from './remote-agents.ts';

const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 30_000;

interface OpeningParts {
  readonly agents: RemoteAgents;
  readonly agent: RemoteAgentTarget;
  readonly questions: RemoteQuestions;
  readonly call: ToolCall;
}

/**
 * Opens the agent, or says why it cannot be called. If the agent may have begun the task, it is tried until the task's time is
 * over, even if its card cannot be read. Rejects with the reason of the call's signal.
 */
export async function openAgent(
  { agents, agent, questions, call }: OpeningParts,
  person: CalledFor,
): Promise<RemoteLink | RemoteTaskResult> {
  const first = await tryOpen(agents, agent, call, person);
  if (!(first instanceof RemoteFault)) return first;
  const state = checkpointOf(call);
  if (!mayHaveBegun(call)) return describeOpening(agent, first);
  if (state === undefined) return failed(describeUnfollowed(agent.title));
  const clock = startWorkClock(agent.taskMs, state.workedMs);
  // The task's clock is paused while the person is asked.
  questions.attendBy({ waiting: clock.waiting, onSettled: () => undefined });
  try {
    for (let delayMs = RETRY_MIN_MS; ; delayMs = Math.min(delayMs * 2, RETRY_MAX_MS)) {
      const signal = AbortSignal.any([call.signal, clock.over]);
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      call.signal.throwIfAborted();
      if (clock.over.aborted) return failed(describeUnfollowed(agent.title));
      const opened = await tryOpen(agents, agent, call, person);
      await call.saveRound(JSON.stringify({ ...state, workedMs: Math.round(clock.workedMs) }));
      if (!(opened instanceof RemoteFault)) return opened;
    }
  } finally {
    clock.stop();
  }
}

/** True if the task has begun at the agent, or may have begun. */
export function mayHaveBegun(call: ToolCall): boolean {
  if (call.round() === undefined) return false;
  const state = checkpointOf(call);
  return state === undefined || state.isSending || state.taskId !== undefined;
}

function checkpointOf(call: ToolCall): TaskCheckpoint | undefined {
  return parseTaskCheckpoint(call.round() ?? '');
}

async function tryOpen(
  agents: RemoteAgents,
  agent: RemoteAgentTarget,
  call: ToolCall,
  person: CalledFor,
): Promise<RemoteLink | RemoteTaskResult | RemoteFault> {
  try {
    return await agents.open(agent, person, call.signal);
  } catch (error) {
    call.signal.throwIfAborted();
    if (!(error instanceof RemoteFault)) throw error;
    return error.kind === 'unauthorized' ? { type: 'unauthorized', status: error.status } : error;
  }
}

function describeOpening({ title }: RemoteAgentTarget, fault: RemoteFault): ToolOutcome {
  return failed(describeFault(title, fault.kind === 'refused' ? fault : new RemoteFault('unreachable')));
}
