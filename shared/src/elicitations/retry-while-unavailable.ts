import { isParleyError } from '../domain/errors.ts';

const OUTAGE_RETRY_MS = 250;

/**
 * How soon to look again while Redis is away, in ms; another time each time. Sleepers that all come back at once are
 * a load of their own, and one that comes back at a steady beat can miss every moment of a link that fails in step.
 */
export function retryPauseMs(): number {
  return OUTAGE_RETRY_MS * (0.5 + Math.random());
}

/** Runs a read or a repeatable command; nothing when Redis was away, so that a sleeper can ride out an outage. */
export async function ifAvailable<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (isParleyError(error, 'unavailable')) return undefined;
    throw error;
  }
}

/** Repeats what may be repeated until Redis answers; throws the signal's reason when aborted. */
export async function retryWhileUnavailable<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      if (!isParleyError(error, 'unavailable')) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryPauseMs()));
    }
  }
}
