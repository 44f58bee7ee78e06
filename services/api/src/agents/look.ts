import type { RunWriter } from './run-writer.ts';
import type { WorkClock } from './work-clock.ts';

// A run that says nothing hears of a stop by asking.
const LOOK_MS = 1_500;
const LOOK_AGE_MS = 1_000;

/** Lets a run look again and again how it stands, but for while it waits for its person; gives back how to end that. */
export function lookRegularly(writer: RunWriter, clock: Pick<WorkClock, 'isWaiting'>): () => void {
  const looking = setInterval(() => {
    if (!clock.isWaiting) writer.look(LOOK_AGE_MS).catch(() => undefined);
  }, LOOK_MS);
  return () => clearInterval(looking);
}
