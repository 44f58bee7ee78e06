import { mintStreamRequestId, type Owner, type StreamRef } from '@parley/shared/domain/ids';
import { type Message, type RunRef, UNOWNED } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { NewRun, Runs } from '@parley/shared/ports/runs/runs';
import { createRunWriter } from '@parley/shared/runs/write';
import { createBudget } from '../loop/budget.ts';
import type { Delegate, DelegatingCall } from '../loop/run-context.ts';
import type { RunAgent } from '../loop/run-steps.ts';
import { turnCallId } from '../tools/call-tool.ts';
import { failed, type ToolOutcome } from '../tools/tool.ts';
import { type FollowDeps, followDelegate } from './follow.ts';
import { runDelegate } from './run-delegate.ts';

// The configuration allows no circles; what is longer than this is none that anybody wants.
const DEPTH_MAX = 5;

export interface DelegateDeps extends FollowDeps {
  readonly engine: Pick<Engine, 'withdraw' | 'watch'>;
  readonly runs: Runs;
  readonly agents: {
    find(id: string): { readonly id: string; readonly title: string };
    open(id: string, principal: Owner, signal: AbortSignal): Promise<RunAgent>;
  };
  /** The pod that writes the runs. */
  readonly owner: string;
  /** Offers runs to all pods. */
  readonly runQueue: Pick<RunQueue, 'offer'>;
  /** Says that this pod works on a run, until it is told otherwise. */
  readonly keepBusy: (run: StreamRef) => () => void;
  /** Whether a delegate works on the pod of whoever delegates, or on any. */
  readonly delegates: 'same-pod' | 'any-pod';
}

/**
 * Runs another agent on a task: a run with a record, a feed and a conversation of its own, none of which is a chat's.
 * Its answer is the outcome. What its tools do is told on the turn's stream, and what it asks is asked there. It ends
 * with whoever delegated; it counts to their tokens and, but for its waits, to their time.
 */
export function createDelegate(deps: DelegateDeps): Delegate {
  return async (call, id, words) => {
    const { from } = call;
    const { title } = deps.agents.find(id);
    if (from.depth >= DEPTH_MAX) {
      return failed(`${title} was not asked: ${DEPTH_MAX} agents already wait for each other.`);
    }
    const { tenant, userId } = from.run;
    const streamRequestId = call.before ?? mintStreamRequestId();
    const run: RunRef = { tenant, userId, streamRequestId, conversationId: streamRequestId };
    const task: Task = { run, id, title, input: [{ role: 'user', content: words }] };
    if (call.before === undefined) await call.note(streamRequestId);
    const isHere = deps.delegates === 'same-pod' && call.before === undefined;
    from.delegated.add(streamRequestId);
    const outcome = await (isHere ? workHere(deps, call, task) : workAnywhere(deps, call, task));
    from.delegated.delete(streamRequestId);
    return outcome;
  };
}

/** Offers the run to all pods; whoever has it already keeps it. */
async function workAnywhere(deps: DelegateDeps, call: DelegatingCall, task: Task): Promise<ToolOutcome> {
  const { signal } = call.from;
  const known =
    call.before === undefined
      ? undefined
      : await retryWhileUnavailable(() => deps.runs.standing(task.run), signal);
  const begun = known ?? (await begin(deps, call, task, UNOWNED));
  if (begun !== undefined)
    await retryWhileUnavailable(() => deps.runQueue.offer(task.run, begun.term), signal);
  return followDelegate(deps, call, task);
}

async function workHere(deps: DelegateDeps, call: DelegatingCall, task: Task): Promise<ToolOutcome> {
  const { from } = call;
  const release = deps.keepBusy(task.run);
  // What is used here counts at once; should another pod take the run over, its feed tells that once more.
  const counted = createBudget(Number.POSITIVE_INFINITY, from.budget);
  const counting = { ...call, from: { ...from, budget: counted } };
  const outcome = await workUnlessTaken(deps, counting, task).finally(release);
  return outcome ?? followDelegate(deps, call, { ...task, counted: counted.used });
}

/** Nothing when another pod has taken the run over, while this one still has the turn. */
async function workUnlessTaken(
  deps: DelegateDeps,
  call: DelegatingCall,
  task: Task,
): Promise<ToolOutcome | undefined> {
  const { from } = call;
  const { run } = task;
  const begun = await begin(deps, call, task, deps.owner);
  if (begun === undefined) return undefined;
  const agent = await deps.agents.open(task.id, run, from.signal);
  const writer = createRunWriter({ runs: deps.runs, run, ...begun });
  const callId = turnCallId(from, call.toolCallId);
  try {
    return await runDelegate(deps, from, { ...agent, ...task, writer, callId });
  } catch (error) {
    if (!writer.fenced.aborted || from.signal.aborted) throw error;
    return undefined;
  }
}

/** How the run begins; nothing when a pod has taken it, or has ended it, before that was heard of. */
async function begin(
  { runs }: DelegateDeps,
  call: DelegatingCall,
  task: Task,
  owner: string,
): Promise<{ readonly term: number; readonly writerSeq: number } | undefined> {
  const begun = await retryWhileUnavailable(() => runs.begin(newRunOf(call, task, owner)), call.from.signal);
  if (begun.type === 'known') return undefined;
  if (begun.type !== 'begun') throw new Error('A conversation of its own had another turn.');
  return begun;
}

interface Task {
  readonly run: RunRef;
  readonly id: string;
  readonly title: string;
  readonly input: readonly Message[];
}

function newRunOf({ from, toolCallId }: DelegatingCall, { run, id, input }: Task, owner: string): NewRun {
  const { turn } = from;
  const { streamRequestId, conversationId } = run;
  return {
    ...run,
    agent: id,
    owner,
    parent: { streamRequestId: from.run.streamRequestId, toolCallId },
    delegateRequest: {
      turn: { streamRequestId: turn.run.streamRequestId, conversationId: turn.run.conversationId },
      depth: from.depth,
      tokens: from.budget.left,
    },
    support: turn.support,
    delivery: turn.delivery,
    input,
    event: {
      type: 'turn-started',
      conversationId,
      messageId: `msg_${streamRequestId.slice(3)}`,
      agent: id,
    },
  };
}
