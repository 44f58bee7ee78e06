import type { RunWriter } from '@parley/shared/runs/write';
import type { WorkClock } from '../loop/work-clock.ts';

// A run that says nothing hears of a stop, or of another owner, by asking. One that waits hears of a stop by its question.
const LOOK_MS = 1_500;
const LOOK_AGE_MS = 1_000;
const WAITING_LOOK_AGE_MS = 30_000;

/** Lets a run look again and again how it stands, rarely while it waits for its person; gives back how to end that. */
export function startPolling(writer: RunWriter, clock: Pick<WorkClock, 'isWaiting'>): () => void {
  const looking = setInterval(() => {
    writer.poll(clock.isWaiting ? WAITING_LOOK_AGE_MS : LOOK_AGE_MS).catch(() => undefined);
  }, LOOK_MS);
  return () => clearInterval(looking);
}
