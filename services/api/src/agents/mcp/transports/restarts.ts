import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { McpLimits } from '../limits.ts';

/** Remembers how the children of each key ended, so that one that dies again and again is not started in a loop. */
export interface Restarts {
  /** Waits until another may be started; rejects when the signal is aborted. */
  turn(key: string, signal: AbortSignal): Promise<void>;
  /** One ended that nobody had asked to, after it had lived for so long; 0 when it never came up. */
  died(key: string, livedMs: number): void;
}

const KEYS_MAX = 1_000;

export function createRestarts(
  limits: Pick<McpLimits, 'restartMinMs' | 'restartMaxMs' | 'stableMs'>,
): Restarts {
  const { restartMinMs, restartMaxMs, stableMs } = limits;
  const debts = new LRUCache<string, { deaths: number; notBefore: number }>({ max: KEYS_MAX });

  return {
    turn: async (key, signal) => {
      const waitMs = (debts.get(key)?.notBefore ?? 0) - performance.now();
      if (waitMs > 0) await sleep(waitMs, undefined, { signal });
    },
    died: (key, livedMs) => {
      const deaths = livedMs >= stableMs ? 1 : (debts.get(key)?.deaths ?? 0) + 1;
      const pauseMs = Math.min(restartMinMs * 2 ** (deaths - 1), restartMaxMs);
      debts.set(key, { deaths, notBefore: performance.now() + pauseMs });
    },
  };
}
