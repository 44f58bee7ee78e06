import { setTimeout as sleep } from 'node:timers/promises';
import { type Caller, keyIdOf } from '@parley/shared/domain/caller';

/**
 * Delays the replies to a caller who is refused repeatedly. A program that repeats refused calls without a pause then costs a
 * pod only one call for each delay and connection. Each waiting refusal holds a connection of the pod, so their number is
 * bounded; further refusals are sent at once.
 */
export interface RefusalDelays {
  /**
   * Resolves when the refusal may be sent: at once for a caller's first `FREE_REFUSALS` in a window, then after the delay.
   * Resolves early when `signal` is aborted. Never rejects.
   */
  wait(caller: Caller, signal: AbortSignal): Promise<void>;
}

interface RefusalDelaySettings {
  /** How long a refusal waits, in ms; with 0, none waits. */
  readonly delayMs: number;
}

const WINDOW_MS = 10_000;
const FREE_REFUSALS = 20;
// The maximum numbers of waiting refusals, for one caller and for all callers of the pod.
const WAITING_OF_CALLER_MAX = 64;
const WAITING_MAX = 2_000;

/** The refusals of one caller in a window. */
interface Refused {
  endsAtMs: number;
  count: number;
  waiting: number;
}

/** Makes the delays of one pod. */
export function createRefusalDelays({ delayMs }: RefusalDelaySettings): RefusalDelays {
  const refusedOf = new Map<string, Refused>();
  let waiting = 0;

  function refusedNow(caller: Caller): Refused {
    const key = keyOf(caller);
    const now = performance.now();
    forgetEnded(now);
    const refused = refusedOf.get(key) ?? { endsAtMs: now + WINDOW_MS, count: 0, waiting: 0 };
    refusedOf.set(key, refused);
    return refused;
  }

  /** Entries are ordered by their ends, because all windows have the same length. */
  function forgetEnded(now: number): void {
    for (const [key, refused] of refusedOf) {
      if (refused.endsAtMs > now) return;
      refusedOf.delete(key);
      // Refusals of this caller still wait, so the entry is still needed.
      if (refused.waiting > 0) {
        refusedOf.set(key, Object.assign(refused, { endsAtMs: now + WINDOW_MS, count: FREE_REFUSALS }));
      }
    }
  }

  return {
    async wait(caller, signal) {
      if (delayMs === 0) return;
      const refused = refusedNow(caller);
      refused.count += 1;
      if (refused.count <= FREE_REFUSALS) return;
      if (refused.waiting >= WAITING_OF_CALLER_MAX || waiting >= WAITING_MAX) return;
      refused.waiting += 1;
      waiting += 1;
      await sleep(delayMs, undefined, { signal }).catch(() => undefined);
      refused.waiting -= 1;
      waiting -= 1;
    },
  };
}

function keyOf(caller: Caller): string {
  return caller.kind === 'user'
    ? JSON.stringify([caller.tenant, caller.userId])
    : JSON.stringify([caller.tenant, null, keyIdOf(caller)]);
}
