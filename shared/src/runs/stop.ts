import type { StreamRef } from '@parley/core/domain/ids';
import { retryWhileUnavailable } from '../async/retry-while-unavailable.ts';
import type { Run, RunRef } from '../domain/runs/run.ts';
import type { Engine } from '../elicitations/engine.ts';
import type { Runs } from '../ports/runs/runs.ts';
import { withdrawOfRun, withdrawOfTurn } from './open-questions.ts';

interface StopDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>;
  readonly runs: Pick<Runs, 'read' | 'stop'>;
}

/**
 * Requests that a running turn and all its delegates stop, on whichever pods they are, and withdraws their open questions.
 * False when the turn is not running. Throws `unavailable`; repeatable.
 */
export async function stopTurn(
  { engine, runs }: StopDeps,
  run: RunRef,
  onRequested: () => void,
): Promise<boolean> {
  if (!(await runs.stop(run))) return false;
  onRequested();
  // Delegates are stopped before the questions are withdrawn, so that none continues because of a withdrawn question.
  await stopDelegates(runs, run);
  // The owner withdraws them too, but an owner that is only waiting learns of the stop by the withdrawal.
  await withdrawOfTurn(engine, run);
  return true;
}

/** Requests that the delegates of a run, and their delegates, stop. Throws `unavailable`; repeatable. */
export async function stopDelegates(runs: Pick<Runs, 'read' | 'stop'>, stream: StreamRef): Promise<void> {
  const { run } = await runs.read(stream);
  for (const delegate of run === undefined ? [] : delegatesOf(run)) {
    if (await runs.stop(delegate)) await stopDelegates(runs, delegate);
  }
}

/**
 * Stops one delegate and its delegates, and withdraws their questions, so that they notice at once. Retries while Redis
 * is unavailable. Never rejects.
 */
export async function stopDelegate(
  deps: { readonly engine: Pick<Engine, 'withdrawRecord'>; readonly runs: Pick<Runs, 'read' | 'stop'> },
  stream: StreamRef,
  onFault: (error: unknown) => void,
): Promise<void> {
  const { engine, runs } = deps;
  try {
    await retryWhileUnavailable(() => runs.stop(stream));
    const { run } = await retryWhileUnavailable(() => runs.read(stream));
    if (run === undefined) return;
    await Promise.all(delegatesOf(run).map((delegate) => stopDelegate(deps, delegate, onFault)));
    await retryWhileUnavailable(() => withdrawOfRun(engine, run));
  } catch (error) {
    onFault(error);
  }
}

/** The delegates' runs for which a run waits, according to its record. */
export function delegatesOf({ tenant, userId, calls }: Run): StreamRef[] {
  return calls.flatMap(({ run: streamRequestId, state }) =>
    streamRequestId === undefined || state !== 'dispatched' ? [] : [{ tenant, userId, streamRequestId }],
  );
}
