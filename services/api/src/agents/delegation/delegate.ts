/**
 * Runs another agent of this deployment on a task, on this pod or on any pod. The run itself is in `run-delegate.ts`, following
 * it on another pod in `follow.ts`.
 */

import { messageIdOf, mintStreamRequestId, type StreamRef } from '@parley/core/domain/ids';
import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { type Message, type RunRef, UNOWNED } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { NewRun, Runs } from '@parley/shared/ports/runs/runs';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import { createOwnedRun, type OwnedRun } from '@parley/shared/runs/owned-run';
import type { RunAgent } from '../loop/run-steps.ts';
import { createBudget } from '../run/budget.ts';
import { shownCallId, turnCallId } from '../run/call-names.ts';
import type { Delegate, DelegatingCall } from '../run/run-context.ts';
import { failed, type ToolOutcome } from '../run/tool.ts';
import type { TurnPerson } from '../tools/passthrough/person.ts';
import { type FollowDeps, followDelegate } from './follow.ts';
import { failDelegate, runDelegate } from './run-delegate.ts';

// The configuration allows no cycles, so this limit only bounds long chains.
const DEPTH_MAX = 5;

export interface DelegateDeps extends FollowDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord' | 'watch'>;
  readonly runs: Runs;
  readonly agents: {
    find(id: string): { readonly id: string; readonly title: string };
    open(id: string, person: TurnPerson, signal: AbortSignal): Promise<RunAgent>;
  };
  /** The id of the pod that writes the runs. */
  readonly owner: string;
  /** Offers delegates' runs to all pods. */
  readonly runQueue: Pick<RunQueue, 'offer'>;
  /** Marks a run as worked on by this pod, until the returned function is called. */
  readonly reserve: (run: StreamRef) => () => void;
  /**
   * Ends a run that this pod has begun but does not work on. A run that has ended, or that another pod owns, stays unchanged.
   */
  readonly endBegun: (run: StreamRef) => void;
  /** Whether a delegate works on the pod of its delegator, or on any pod. */
  readonly delegates: 'same-pod' | 'any-pod';
}

/**
 * Runs another agent on a task, as a run with its own record, feed and conversation. The run's answer is the outcome of the
 * call. Its tool calls and questions appear on the turn's stream. It ends with its delegator. It counts towards the delegator's
 * tokens and, except for its waits, the delegator's working time.
 */
export function createDelegate(deps: DelegateDeps): Delegate {
  return async (call, id, task) => {
    const { from } = call;
    const { title } = deps.agents.find(id);
    if (from.depth >= DEPTH_MAX) {
      return failed(`${title} was not asked: ${DEPTH_MAX} agents already wait for each other.`);
    }
    const { tenant, userId } = from.run;
    const streamRequestId = call.before ?? mintStreamRequestId();
    const run: RunRef = { tenant, userId, streamRequestId, conversationId: streamRequestId };
    const assignment: DelegateTask = { run, id, title, input: [{ role: 'user', content: task }] };
    if (call.before === undefined) await call.save(streamRequestId);
    const isOnThisPod = deps.delegates === 'same-pod' && call.before === undefined;
    from.delegated.add(streamRequestId);
    const outcome = await (isOnThisPod
      ? workOnThisPod(deps, call, assignment)
      : workOnAnyPod(deps, call, assignment));
    from.delegated.delete(streamRequestId);
    return outcome;
  };
}

/** Offers the run to all pods and follows it. A pod that already owns it keeps it. */
async function workOnAnyPod(
  deps: DelegateDeps,
  call: DelegatingCall,
  task: DelegateTask,
): Promise<ToolOutcome> {
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

async function workOnThisPod(
  deps: DelegateDeps,
  call: DelegatingCall,
  task: DelegateTask,
): Promise<ToolOutcome> {
  const { from } = call;
  // The tokens are counted at once. After a take-over the feed reports them again, so `counted` is subtracted.
  const counted = createBudget(Number.POSITIVE_INFINITY, from.budget);
  const counting = { ...call, from: { ...from, budget: counted } };
  const outcome = await workUnlessTaken(deps, counting, task);
  return outcome ?? followDelegate(deps, call, { ...task, counted: counted.used });
}

/** Returns undefined if another pod took over the delegate's run while this pod still owns the turn. */
async function workUnlessTaken(
  deps: DelegateDeps,
  call: DelegatingCall,
  task: DelegateTask,
): Promise<ToolOutcome | undefined> {
  const { from } = call;
  const { run } = task;
  const release = deps.reserve(run);
  let owned: OwnedRun | undefined;
  try {
    const begun = await begin(deps, call, task, deps.owner);
    if (begun === undefined) return undefined;
    owned = createOwnedRun(deps, run, begun);
    return await workOnOwned(deps, call, task, owned);
  } catch (error) {
    if (owned?.writer.fenced.aborted !== true || from.signal.aborted) throw error;
    return undefined;
  } finally {
    release();
    // No pod recovers a run whose owner is alive, so this pod must end it.
    if (owned?.writer.outcome === undefined && !belongsToAnotherPod(from.signal)) deps.endBegun(run);
  }
}

async function workOnOwned(
  deps: DelegateDeps,
  { from, toolCallId }: DelegatingCall,
  task: DelegateTask,
  owned: OwnedRun,
): Promise<ToolOutcome> {
  const opened = await deps.agents.open(task.id, { ...task.run, reach: from.turn.reach }, from.signal).then(
    (agent) => ({ agent }),
    (error: unknown) => ({ error }),
  );
  if ('agent' in opened) {
    const ids = { callId: turnCallId(from, toolCallId), shownId: shownCallId(from, toolCallId) };
    return runDelegate(from, owned, { ...opened.agent, ...task, ...ids });
  }
  if (belongsToAnotherPod(from.signal)) throw opened.error;
  return failDelegate(from, owned, { title: task.title, cause: opened.error });
}

/** Begins the run. Returns undefined if it had begun earlier and another pod has since taken or ended it. */
async function begin(
  { runs }: DelegateDeps,
  call: DelegatingCall,
  task: DelegateTask,
  owner: string,
): Promise<{ readonly term: number; readonly writerSeq: number } | undefined> {
  const begun = await retryWhileUnavailable(() => runs.begin(newRun(call, task, owner)), call.from.signal);
  if (begun.type === 'known') return undefined;
  if (begun.type !== 'begun') throw new Error('The conversation of a delegate has another running turn.');
  return begun;
}

interface DelegateTask {
  readonly run: RunRef;
  readonly id: string;
  readonly title: string;
  readonly input: readonly Message[];
}

function newRun(
  { from, toolCallId, sharers }: DelegatingCall,
  { run, id, input }: DelegateTask,
  owner: string,
): NewRun {
  const { turn } = from;
  const { streamRequestId, conversationId } = run;
  return {
    ...run,
    agent: id,
    owner,
    parent: { streamRequestId: from.run.streamRequestId, toolCallId },
    delegateRequest: {
      turn: { streamRequestId: turn.run.streamRequestId, conversationId: turn.run.conversationId },
      shownId: shownCallId(from, toolCallId),
      depth: from.depth,
      tokens: Math.floor(from.budget.left / sharers),
      notify: turn.notify,
    },
    support: turn.support,
    delivery: turn.delivery,
    traceparent: from.observer.traceparent(),
    input,
    event: {
      type: 'turn-started',
      conversationId,
      messageId: messageIdOf(streamRequestId),
      agent: id,
    },
  };
}
