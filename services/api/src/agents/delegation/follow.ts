/** Follows a delegate that works on any pod, through the feed of its run. Beginning the delegate is in `delegate.ts`. */

import { retryWhileUnavailable } from '@parley/shared/async/retry-while-unavailable';
import { DETACHED, type RunRef } from '@parley/shared/domain/runs/run';
import { type TurnEvent, turnEventOf, waitsForPerson } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import { stopDelegate } from '@parley/shared/runs/stop';
import type { Usage } from '../run/budget.ts';
import { forwardedEvent, turnCallId } from '../run/call-names.ts';
import type { DelegatingCall, RunContext } from '../run/run-context.ts';
import type { ToolOutcome } from '../run/tool.ts';
import { isCallEvent } from '../run/tool.ts';
import { delegateFailed, delegateOutcome, textOf } from './outcome.ts';

// How long the delegator waits for a stopped delegate to end.
const STOP_GRACE_MS = 5_000;

export interface FollowDeps {
  readonly engine: Pick<Engine, 'withdrawRecord' | 'watch'>;
  readonly runs: Pick<Runs, 'read' | 'standing' | 'stop'>;
  /** Checks the run's owner, and recovers the run if it is orphaned. The returned function ends this. */
  readonly watch: (run: RunRef) => () => void;
}

interface Followed {
  readonly run: RunRef;
  readonly id: string;
  readonly title: string;
  /** Tokens that already count for the delegator. */
  readonly counted?: Usage | undefined;
}

/** The last event of a delegate's feed. */
type EndEvent = TurnEvent & { type: 'turn-finished' | 'turn-failed' };

/**
 * Follows the feed of a delegate that works on any pod: forwards its tool calls to the turn's stream, pauses the clock while it
 * waits for the person, and counts its tokens. If the delegator ends first, stops the delegate and rejects with the delegator's
 * abort reason.
 */
export async function followDelegate(
  deps: FollowDeps,
  call: DelegatingCall,
  followed: Followed,
): Promise<ToolOutcome> {
  const { from } = call;
  const { run, title, counted } = followed;
  const abandoning = new AbortController();
  const onAbort = () => {
    // The delegate continues. The next owner of the delegator's run will follow it again.
    if (belongsToAnotherPod(from.signal)) return abandoning.abort();
    void stopUnlessFenced(deps, from, run).finally(() => abortAfterGrace(abandoning));
  };
  from.signal.addEventListener('abort', onAbort, { once: true });
  // Never subtracted: the turn withdraws what an abandoned delegate still asks, and what a pod asked and did not live to record.
  from.turn.openQuestions += 1;
  try {
    if (from.signal.aborted) onAbort();
    const end = await followToEnd(deps, call, followed, abandoning.signal);
    if (end.usage !== undefined) from.budget.spend(subtractUsage(end.usage, counted));
    // Usually the whole turn was stopped, which this run must notice before it continues.
    if (end.type === 'turn-finished' && end.reason === 'stopped') await from.turn.poll();
    from.signal.throwIfAborted();
    if (end.type === 'turn-failed') return delegateFailed(title, end.code);
    const { run: record } = await retryWhileUnavailable(() => deps.runs.read(run), from.signal);
    return delegateOutcome(title, end.reason, textOf(record?.steps.at(-1)?.messages.at(-1)));
  } finally {
    from.signal.removeEventListener('abort', onAbort);
    abandoning.abort();
  }
}

/** A delegate's total usage minus the part that already counts. */
function subtractUsage({ inputTokens, outputTokens }: Usage, counted: Usage = {}): Usage {
  return {
    ...(inputTokens !== undefined && { inputTokens: inputTokens - (counted.inputTokens ?? 0) }),
    ...(outputTokens !== undefined && { outputTokens: outputTokens - (counted.outputTokens ?? 0) }),
  };
}

async function followToEnd(
  { engine, runs, watch }: FollowDeps,
  { from, toolCallId }: DelegatingCall,
  { run, id }: Followed,
  signal: AbortSignal,
): Promise<EndEvent> {
  const callId = turnCallId(from, toolCallId);
  const pauses = createPauseTracker(from);
  let unwatch: (() => void) | undefined;
  try {
    for await (const item of await engine.watch({ stream: run, evenIfSilent: true, signal })) {
      const event = item.type === 'other' ? turnEventOf(item.event) : undefined;
      if (event === undefined || event.type === 'turn-started') continue;
      // The first event after the start comes from the new owner.
      unwatch ??= watch(run);
      if (event.type === 'turn-finished' || event.type === 'turn-failed') return event;
      // A delegate that resumes by itself keeps the turn attached, because readers could not know when to return.
      if (waitsForPerson(event) && (await isDetached(runs, run, signal))) pauses.detached();
      else if (event.type === 'run-paused' || event.type === 'run-resumed') pauses.update(event.waits);
      else if (isCallEvent(event)) await from.turn.append(forwardedEvent(event, id, callId));
    }
    return { type: 'turn-failed', code: 'interrupted', message: 'The feed of the delegate ended early.' };
  } catch (error) {
    from.signal.throwIfAborted();
    throw error;
  } finally {
    unwatch?.();
    pauses.end();
  }
}

/**
 * Returns false for a run that has been resumed but does not work yet. A turn that detached for such a run would be resumed at
 * once.
 */
async function isDetached(runs: Pick<Runs, 'standing'>, run: RunRef, signal: AbortSignal): Promise<boolean> {
  const standing = await retryWhileUnavailable(() => runs.standing(run), signal);
  return standing?.owner === DETACHED;
}

/**
 * Pauses the delegator's clock while the delegate waits for a person. While the delegate is detached, the turn counts as idle.
 */
function createPauseTracker({ clock, turn }: RunContext) {
  let endPause: (() => void) | undefined;
  let isDetached = false;

  function end(): void {
    if (isDetached) turn.idle.delegateAttached();
    isDetached = false;
    endPause?.();
    endPause = undefined;
  }

  return {
    /** `waits` is the number of current waits. */
    update(waits: number) {
      if (waits === 0) return end();
      if (endPause !== undefined) return;
      // If the run can no longer append events, its next write reports the reason.
      clock.waiting(() => new Promise<void>((resolve) => (endPause = resolve))).catch(() => undefined);
    },
    /** The delegate was detached. The run's next owner reports when it no longer waits. */
    detached() {
      this.update(1);
      if (!isDetached) turn.idle.delegateDetached();
      isDetached = true;
    },
    end,
  };
}

/** A pod whose lease has lapsed must not stop a delegate for which another pod's run waits. */
async function stopUnlessFenced(
  deps: FollowDeps,
  { writer, onFault }: RunContext,
  run: RunRef,
): Promise<void> {
  await writer.poll().catch(() => undefined);
  if (!writer.fenced.aborted) await stopDelegate(deps, run, onFault);
}

function abortAfterGrace(abandoning: AbortController): void {
  setTimeout(() => abandoning.abort(), STOP_GRACE_MS).unref();
}
