import { NOBODY, type RunRef } from '@parley/shared/domain/run';
import type { RunQueue } from '@parley/shared/ports/run-queue';
import type { Runs } from '@parley/shared/ports/runs';
import type { RunWriter } from './run-writer.ts';

export interface HandOverDeps {
  readonly runs: Pick<Runs, 'takeOver'>;
  readonly runQueue: Pick<RunQueue, 'offer'>;
}

/**
 * Lets go of a run that another pod is to go on with: what it has told and kept is written first. Should that fail, the
 * lease of this pod lapses, and the run is found by that.
 */
export async function handOver(
  { runs, runQueue }: HandOverDeps,
  run: RunRef,
  writer: Pick<RunWriter, 'keep' | 'term'>,
): Promise<void> {
  await writer.keep([]);
  const term = await runs.takeOver(run, writer.term, NOBODY);
  if (term !== undefined) await runQueue.offer(run, term);
}
