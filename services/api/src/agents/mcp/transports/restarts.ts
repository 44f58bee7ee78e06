import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { McpLimits } from '../limits.ts';

/** Back-off for child processes, by key: one that crashes repeatedly is restarted with increasing pauses. */
interface Restarts {
  /** Waits until another process may be started. Rejects when the signal is aborted. */
  wait(key: string, signal: AbortSignal): Promise<void>;
  /** Records an unexpected exit after `uptimeMs`; 0 when the process never became ready. */
  crashed(key: string, uptimeMs: number): void;
}

const KEYS_MAX = 1_000;

export function createRestarts(
  limits: Pick<McpLimits, 'restartMinMs' | 'restartMaxMs' | 'stableMs'>,
): Restarts {
  const { restartMinMs, restartMaxMs, stableMs } = limits;
  const crashes = new LRUCache<string, { count: number; notBefore: number }>({ max: KEYS_MAX });

  return {
    wait: async (key, signal) => {
      const waitMs = (crashes.get(key)?.notBefore ?? 0) - performance.now();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    },
    crashed: (key, uptimeMs) => {
      const count = uptimeMs >= stableMs ? 1 : (crashes.get(key)?.count ?? 0) + 1;
      const pauseMs = Math.min(restartMinMs * 2 ** (count - 1), restartMaxMs);
      crashes.set(key, { count, notBefore: performance.now() + pauseMs });
    },
  };
}
