import type { ParleyClientError } from '../errors.ts';
import { createBackoff, type RetrySettings, sleep } from '../retry.ts';

/** How long to wait between tries, and when to stop trying. */
export interface Patience {
  /** Things go well: trouble begins anew after this. */
  well(): void;
  /** Changes the first pause, in ms. */
  startFrom(firstDelayMs: number): void;
  /** Waits before the next try; false when `giveUpMs` is over since things last went well. Rejects on abort. */
  wait(error: ParleyClientError | undefined, signal: AbortSignal | undefined): Promise<boolean>;
}

export function createPatience(retry: RetrySettings): Patience {
  const backoff = createBackoff(retry);
  let failingSince: number | undefined;
  return {
    well() {
      failingSince = undefined;
      backoff.reset();
    },
    startFrom: (firstDelayMs) => backoff.startFrom(firstDelayMs),
    async wait(error, signal) {
      failingSince ??= performance.now();
      const delayMs = backoff.next(error?.retryAfterSeconds);
      if (performance.now() + delayMs - failingSince >= retry.giveUpMs) return false;
      await sleep(delayMs, signal);
      return true;
    },
  };
}
