import type { WorkClock } from '@parley/shared/async/work-clock';
import type { RunWriter } from '@parley/shared/runs/write';

// A run that writes nothing learns by polling that it was stopped or taken over. While it waits for its person, the withdrawal
// of the question also tells it about a stop, so infrequent polls suffice.
const POLL_MS = 1_500;
const WORKING_AGE_MS = 1_000;
const WAITING_AGE_MS = 30_000;

/** Polls the status of a run. Returns a function that ends the polling. */
export function startPolling(
  writer: Pick<RunWriter, 'poll'>,
  clock: Pick<WorkClock, 'isWaiting'>,
): () => void {
  const timer = setInterval(() => {
    writer.poll(clock.isWaiting ? WAITING_AGE_MS : WORKING_AGE_MS).catch(() => undefined);
  }, POLL_MS);
  return () => clearInterval(timer);
}
