import { type RunRef, UNOWNED } from '@parley/shared/domain/runs/run';
import { retryWhileUnavailable } from '@parley/shared/elicitations/retry-while-unavailable';
import type { RunQueue } from '@parley/shared/ports/runs/run-queue';
import type { Runs, RunWrite } from '@parley/shared/ports/runs/runs';
import { RunDetachedError } from '@parley/shared/runs/interruption';
import type { RunWriter } from '@parley/shared/runs/write';

export interface LetGoDeps {
  readonly runs: Pick<Runs, 'takeOver'>;
  readonly runQueue: Pick<RunQueue, 'offer'>;
}

/** What a run waits for: questions that are open, and detached runs of delegates. */
export type Waits = NonNullable<RunWrite['detach']>;

/**
 * Lets go of a run that another pod is to go on with: at once, or, when it was detached (`reason`), once what it waits
 * for has ended. What it has told and kept is written first. Rides out an outage of Redis.
 */
export async function letGo(
  deps: LetGoDeps,
  run: RunRef,
  writer: Pick<RunWriter, 'save' | 'detach' | 'term'>,
  { reason, waits }: { readonly reason: unknown; readonly waits: Waits },
): Promise<'detached' | 'handed_over'> {
  const isWaiting = waits.questions.length + waits.runs.length > 0;
  if (reason instanceof RunDetachedError && isWaiting && (await writer.detach(waits))) return 'detached';
  await handOver(deps, run, writer);
  return 'handed_over';
}

async function handOver(
  { runs, runQueue }: LetGoDeps,
  run: RunRef,
  writer: Pick<RunWriter, 'save' | 'term'>,
): Promise<void> {
  await writer.save([]);
  const term = await retryWhileUnavailable(() => runs.takeOver(run, writer.term, UNOWNED));
  if (term !== undefined) await retryWhileUnavailable(() => runQueue.offer(run, term));
}
