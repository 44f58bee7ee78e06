import { retryWhileUnavailable } from '../async/retry-while-unavailable.ts';
import type { RunRef } from '../domain/runs/run.ts';
import type { Engine } from '../elicitations/engine.ts';
import type { RunQueue } from '../ports/runs/run-queue.ts';
import type { Runs } from '../ports/runs/runs.ts';
import { detachOrHandOver, type ReleaseKind, type Waits } from './detach.ts';
import { RUN_STOPPED, withdrawOfTurn } from './open-questions.ts';
import { stopDelegates } from './stop.ts';
import { createRunWriter, type RunWriter } from './write.ts';

interface OwnedRunDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>;
  readonly runs: Runs;
  readonly runQueue: Pick<RunQueue, 'offer'>;
}

/** A run that this pod owns under one term, with the operations that the work on it needs. */
export interface OwnedRun {
  readonly run: RunRef;
  readonly writer: RunWriter;
  /**
   * Releases the run to another pod after an interruption. `reason` is the abort reason of the work. Retries while Redis
   * is unavailable.
   */
  release(reason: unknown, waits: Waits): Promise<ReleaseKind>;
  /** Aborted once `release` has settled. */
  readonly released: AbortSignal;
  /** Withdraws the turn's open questions, unless another pod now owns the run. Retries while Redis is unavailable. */
  withdrawQuestions(reason: string): Promise<void>;
  /** Stops the delegates, then withdraws the questions. Retries while Redis is unavailable. */
  abandonWaits(): Promise<void>;
}

/** `start` is the term under which the pod owns the run, and the sequence number of the run's last event. */
export function createOwnedRun(
  deps: OwnedRunDeps,
  run: RunRef,
  start: { readonly term: number; readonly writerSeq: number },
): OwnedRun {
  const { engine, runs } = deps;
  const writer = createRunWriter({ runs, run, ...start });
  const released = new AbortController();

  async function withdrawUnlessTaken(reason: string): Promise<void> {
    const standing = await runs.standing(run);
    const isTaken = standing?.status === 'running' && standing.term !== start.term;
    if (!isTaken) await withdrawOfTurn(engine, run, reason);
  }

  return {
    run,
    writer,
    release: (reason, waits) =>
      detachOrHandOver(deps, run, writer, { reason, waits }).finally(() => released.abort()),
    released: released.signal,
    withdrawQuestions: (reason) => retryWhileUnavailable(() => withdrawUnlessTaken(reason)),
    abandonWaits: () =>
      retryWhileUnavailable(async () => {
        await stopDelegates(runs, run);
        await withdrawUnlessTaken(RUN_STOPPED);
      }),
  };
}
