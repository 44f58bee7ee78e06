import { isParleyError } from '@parley/core/domain/errors';

const FIRST_PAUSE_MS = 250;
// A sleeper is also woken by the resync that follows an outage, so it may read seldom. Nothing wakes a call that retries.
const SLEEPER_PAUSE_MS_MAX = 8_000;
const CALL_PAUSE_MS_MAX = 1_000;
// A reader of a silent stream pauses for at most this multiple of its regular pause.
const SILENT_PAUSES_MAX = 8;
// Regular pauses end at multiples of this time, so that the reads of many sleepers share a turn of the event loop. A read in a
// turn of its own takes a pod three times as much processor time.
const TOGETHER_MS = 100;

/**
 * Runs a read or a repeatable command. Resolves with undefined when Redis is unavailable, so that a sleeper can ride out an
 * outage.
 */
export async function ifAvailable<T>(run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (isParleyError(error, 'unavailable')) return undefined;
    throw error;
  }
}

/**
 * The reads of one sleeper. While Redis is unavailable, the pause between two reads doubles up to some seconds, because a pod
 * may hold thousands of sleepers. This pause has jitter, for two reasons: sleepers must not all read at the same moment, and a
 * steady interval could always hit the bad phase of a connection that fails periodically.
 */
export class SleeperReads {
  #failures = 0;
  #silentPauses = 1;

  /** Runs a read. Resolves with undefined when Redis is unavailable. */
  async read<T>(run: () => Promise<T>): Promise<T | undefined> {
    const result = await ifAvailable(run);
    this.#failures = result === undefined ? this.#failures + 1 : 0;
    return result;
  }

  /** Pause before the next read, in ms: `regularMs` or a little more, unless the last read failed. */
  pauseMs(regularMs: number): number {
    if (this.#failures > 0) return pauseMs(this.#failures, SLEEPER_PAUSE_MS_MAX);
    const now = performance.now();
    return Math.ceil((now + regularMs) / TOGETHER_MS) * TOGETHER_MS - now;
  }

  /**
   * The same as `pauseMs`, but the pause doubles after each pause in which nothing happened, up to eight times the regular one:
   * most streams are silent, and lost notifications are rare.
   */
  readerPauseMs(regularMs: number): number {
    return this.pauseMs(regularMs * this.#silentPauses);
  }

  /**
   * Goes back to short pauses: a notification means that Redis may be available again, or that more notifications may follow.
   */
  notified(): void {
    this.#failures = 0;
    this.#silentPauses = 1;
  }

  /** Says that nothing happened during a pause. */
  silent(): void {
    this.#silentPauses = Math.min(2 * this.#silentPauses, SILENT_PAUSES_MAX);
  }
}

/** Repeats an idempotent call until Redis answers. Throws the signal's reason when aborted. */
export async function retryWhileUnavailable<T>(run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      return await run();
    } catch (error) {
      if (!isParleyError(error, 'unavailable')) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs(failures, CALL_PAUSE_MS_MAX)));
    }
  }
}

function pauseMs(failures: number, max: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), max) * (0.5 + Math.random());
}
