import { retryWhileUnavailable } from '../async/retry-while-unavailable.ts';
import { type RunRef, UNOWNED } from '../domain/runs/run.ts';
import type { RunQueue } from '../ports/runs/run-queue.ts';
import type { Runs } from '../ports/runs/runs.ts';
import type { RunWriter } from './write.ts';

export interface HandOverDeps {
  readonly runs: Pick<Runs, 'takeOver'>;
  readonly runQueue: Pick<RunQueue, 'offer'>;
}

/** Writes queued events, releases the run and offers it to all pods. Retries while Redis is unavailable. */
export async function handOver(
  { runs, runQueue }: HandOverDeps,
  run: RunRef,
  writer: Pick<RunWriter, 'save' | 'term'>,
): Promise<void> {
  await writer.save([]);
  const term = await retryWhileUnavailable(() => runs.takeOver(run, writer.term, UNOWNED));
  if (term !== undefined) await retryWhileUnavailable(() => runQueue.offer(run, term));
}
