import { setTimeout as sleep } from 'node:timers/promises';

/** Limits how often one task is read, however often its agent reports changes. */
interface ReadPace {
  /** Waits until the next read may begin. Rejects with the signal's reason. */
  next(signal: AbortSignal): Promise<void>;
}

/**
 * The first pause between reads. Pauses grow while the task keeps changing, so a task that changes only a few times is read
 * promptly.
 */
const FIRST_PAUSE_MS = 50;
const PAUSE_MAX_MS = 1_000;
/** After this time without a read, pauses are short again. */
const QUIET_MS = 2_000;

export function createReadPace(): ReadPace {
  let pauseMs = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    async next(signal) {
      const sinceMs = performance.now() - lastAt;
      pauseMs = sinceMs > QUIET_MS ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, PAUSE_MAX_MS);
      if (sinceMs < pauseMs) await sleep(pauseMs - sinceMs, undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
      lastAt = performance.now();
    },
  };
}
