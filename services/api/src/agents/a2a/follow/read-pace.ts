import { setTimeout as sleep } from 'node:timers/promises';

/** Keeps the reads of one task apart, however often its agent says that the task has changed. */
interface ReadPace {
  /** Waits until the next read may begin. Rejects with the signal's reason. */
  next(signal: AbortSignal): Promise<void>;
}

/** A task that changes a few times is read closely; one that goes on changing, ever less often. */
const FIRST_PAUSE_MS = 50;
const PAUSE_MAX_MS = 1_000;
/** After so long without a read, pauses are short again. */
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
