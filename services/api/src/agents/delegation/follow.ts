import type { StreamRef } from '@parley/shared/domain/ids';
import { DETACHED, type Run, type RunRef } from '@parley/shared/domain/runs/run';
import { type TurnEvent, turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { belongsToAnotherPod } from '@parley/shared/runs/interruption';
import type { Usage } from '../loop/budget.ts';
import type { DelegatingCall, RunContext } from '../loop/run-context.ts';
import { withdrawAsked } from '../ownership/open-questions.ts';
import { forwardedEvent, isCallEvent, turnCallId } from '../tools/call-tool.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import { delegateFailed, delegateOutcome, textOf } from './outcome.ts';

// How long whoever delegated waits for a delegate that was told to end.
const LEAVING_MS = 5_000;

export interface FollowDeps {
  readonly engine: Pick<Engine, 'withdraw' | 'watch'>;
  readonly runs: Pick<Runs, 'read' | 'standing' | 'stop'>;
  /** Has a run taken over whose pod dies, until that is called off. */
  readonly attend: (run: RunRef) => () => void;
}

interface Followed {
  readonly run: RunRef;
  readonly id: string;
  readonly title: string;
  /** What it used that counts to whoever delegated already. */
  readonly counted?: Usage | undefined;
}

/** How a delegate's run ended, as its feed tells it. */
type End = TurnEvent & { type: 'turn-finished' | 'turn-failed' };

/**
 * Awaits a delegate that works on whichever pod took its run, by that run's feed: tells its tools' calls on the turn's
 * stream, lets the clock stand still while it waits for the person, and counts what it used. Rejects with the reason
 * of whoever delegated when they end first; the delegate is stopped then.
 */
export async function followDelegate(
  deps: FollowDeps,
  call: DelegatingCall,
  followed: Followed,
): Promise<ToolOutcome> {
  const { from } = call;
  const { run, title, counted } = followed;
  const leaving = new AbortController();
  const onAbort = () => {
    // The delegate works on; whoever takes the run over that delegated finds it again.
    if (belongsToAnotherPod(from.signal)) return leaving.abort();
    void stopUnlessLost(deps, from, run).finally(() => leaveSoon(leaving));
  };
  from.signal.addEventListener('abort', onAbort, { once: true });
  // Whatever it has asked when its feed falls silent, or whoever delegated ends, is the turn's to take back.
  from.turn.openQuestions += 1;
  try {
    if (from.signal.aborted) onAbort();
    const end = await untilItsEnd(deps, call, followed, leaving.signal);
    if (end.usage !== undefined) from.budget.spend(usedSince(counted, end.usage));
    // Mostly because the turn is to stop: then nobody goes on with what came of it.
    if (end.type === 'turn-finished' && end.reason === 'stopped') await from.turn.poll();
    from.signal.throwIfAborted();
    from.turn.openQuestions -= 1;
    if (end.type === 'turn-failed') return delegateFailed(title, end.code);
    const { run: record } = await retryWhileUnavailable(() => deps.runs.read(run), from.signal);
    return delegateOutcome(title, end.reason, textOf(record?.steps.at(-1)?.messages.at(-1)));
  } finally {
    from.signal.removeEventListener('abort', onAbort);
    leaving.abort();
  }
}

/** What of a delegate's whole use is not counted yet. */
function usedSince(counted: Usage = {}, { inputTokens, outputTokens }: Usage): Usage {
  return {
    ...(inputTokens !== undefined && { inputTokens: inputTokens - (counted.inputTokens ?? 0) }),
    ...(outputTokens !== undefined && { outputTokens: outputTokens - (counted.outputTokens ?? 0) }),
  };
}

async function untilItsEnd(
  { engine, runs, attend }: FollowDeps,
  { from, toolCallId }: DelegatingCall,
  { run, id }: Followed,
  signal: AbortSignal,
): Promise<End> {
  const callId = turnCallId(from, toolCallId);
  const pauses = createPauses(from);
  let leave: (() => void) | undefined;
  try {
    for await (const item of await engine.watch({ stream: run, evenIfSilent: true, signal })) {
      const event = item.type === 'other' ? turnEventOf(item.event) : undefined;
      if (event === undefined || event.type === 'turn-started') continue;
      // Only now does the pod own it that works on it.
      leave ??= attend(run);
      if (event.type === 'turn-finished' || event.type === 'turn-failed') return event;
      if (event.type === 'turn-detached' && (await isDetached(runs, run, signal))) pauses.leave();
      else if (event.type === 'run-paused' || event.type === 'run-resumed') pauses.stand(event.waits);
      else if (isCallEvent(event)) await from.turn.append(forwardedEvent(event, id, callId));
    }
    return { type: 'turn-failed', code: 'interrupted', message: 'Its feed ended without its end.' };
  } catch (error) {
    from.signal.throwIfAborted();
    throw error;
  } finally {
    leave?.();
    pauses.over();
  }
}

/** False for a run that was woken since and is not yet at work: whoever let go for it would be roused, again and again. */
async function isDetached(runs: Pick<Runs, 'standing'>, run: RunRef, signal: AbortSignal): Promise<boolean> {
  const standing = await retryWhileUnavailable(() => runs.standing(run), signal);
  return standing?.owner === DETACHED;
}

/**
 * Lets the clock of whoever delegated stand still while their delegate waits for anybody; and the turn rest while no
 * pod holds the delegate.
 */
function createPauses({ clock, turn }: RunContext) {
  let goOn: (() => void) | undefined;
  let isAway = false;

  function over(): void {
    if (isAway) turn.idle.delegateAttached();
    isAway = false;
    goOn?.();
    goOn = undefined;
  }

  return {
    /** `waits` is how many waits are under way. */
    stand(waits: number) {
      if (waits === 0) return over();
      if (goOn !== undefined) return;
      // Whoever cannot be told any more hears of that by their own writes.
      clock.waiting(() => new Promise<void>((resolve) => (goOn = resolve))).catch(() => undefined);
    },
    /** No pod holds the delegate; whoever goes on with it says that nobody waits. */
    leave() {
      this.stand(1);
      if (!isAway) turn.idle.delegateDetached();
      isAway = true;
    },
    over,
  };
}

/** A pod that was frozen past its lease has nothing to stop any more, and may be the last to know. */
async function stopUnlessLost(deps: FollowDeps, { writer, onFault }: RunContext, run: RunRef): Promise<void> {
  await writer.poll().catch(() => undefined);
  if (!writer.fenced.aborted) await stopDelegate(deps, run, onFault);
}

/** Has a delegate end, wherever it works; what it waits for is taken back, so that it hears of it at once. */
async function stopDelegate(
  deps: FollowDeps,
  run: StreamRef,
  onFault: (error: unknown) => void,
): Promise<void> {
  const { engine, runs } = deps;
  try {
    await retryWhileUnavailable(() => runs.stop(run));
    const { run: record } = await retryWhileUnavailable(() => runs.read(run));
    if (record === undefined) return;
    await Promise.all(delegatesOf(record).map((delegate) => stopDelegate(deps, delegate, onFault)));
    await retryWhileUnavailable(() => withdrawAsked(engine, record));
  } catch (error) {
    onFault(error);
  }
}

/** Asks whoever a run has delegated to to stop as well, and so on. Throws `unavailable`; may be repeated. */
export async function stopDelegates(runs: Pick<Runs, 'read' | 'stop'>, stream: StreamRef): Promise<void> {
  const { run } = await runs.read(stream);
  for (const delegate of run === undefined ? [] : delegatesOf(run)) {
    if (await runs.stop(delegate)) await stopDelegates(runs, delegate);
  }
}

/** The runs that a run waits for, as its record has it. */
function delegatesOf({ tenant, userId, calls }: Run): StreamRef[] {
  return calls.flatMap(({ run: streamRequestId, state }) =>
    streamRequestId === undefined || state !== 'dispatched' ? [] : [{ tenant, userId, streamRequestId }],
  );
}

function leaveSoon(leaving: AbortController): void {
  setTimeout(() => leaving.abort(), LEAVING_MS).unref();
}
