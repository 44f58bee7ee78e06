import { isParleyError } from '../domain/errors.ts';

/** How soon to look again while Redis is away, in ms. */
export const OUTAGE_RETRY_MS = 250;

/** Runs a read or a repeatable command; nothing when Redis was away, so that a sleeper can ride out an outage. */
export async function throughOutage<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (isParleyError(error, 'unavailable')) return undefined;
    throw error;
  }
}
