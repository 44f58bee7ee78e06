import type { Limits } from '../ports/limits.ts';
import type { Commands } from './connect.ts';
import { limitKey } from './keys.ts';
import { loadScript } from './script.ts';
import { orUnavailable } from './unavailable.ts';

// Large budgets are taken from Redis in batches, so that counting every call costs no round trip; what a pod has
// taken and not used is lost to the others until the window ends, at most this share of the budget.
const BATCHES_PER_BUDGET = 500;
// A budget that is asked for once leaves its credit behind; above so many the oldest make room.
const CREDITS_MAX = 10_000;

interface Credit {
  points: number;
  until: number;
}

/** Budgets as counters, places as sorted sets of leases. */
export function createRedisLimits(redis: Commands, onError?: (error: unknown) => void): Limits {
  const takeScript = loadScript(redis, 'take', onError);
  const holdScript = loadScript(redis, 'hold', onError);
  const credits = new Map<string, Credit>();

  function spendCredit(key: string): boolean {
    const credit = credits.get(key);
    if (credit === undefined) return false;
    if (credit.points === 0 || performance.now() >= credit.until) {
      credits.delete(key);
      return false;
    }
    credit.points -= 1;
    return true;
  }

  function keepCredit(key: string, credit: Credit): void {
    credits.delete(key);
    credits.set(key, credit);
    const [oldest] = credits.keys();
    if (credits.size > CREDITS_MAX && oldest !== undefined) credits.delete(oldest);
  }

  return {
    async take(limit, subject, rate) {
      const key = limitKey(limit, subject);
      const batch = Math.max(1, Math.floor(rate.points / BATCHES_PER_BUDGET));
      if (batch > 1 && spendCredit(key)) return { allowed: true };
      const reply = (await takeScript([key], [rate.points, rate.windowSeconds * 1000, batch])) as number[];
      const [granted = 0, leftMs = 0] = reply;
      if (granted === 0)
        return {
          allowed: false,
          retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)),
        };
      if (granted > 1) {
        const held = credits.get(key)?.points ?? 0;
        keepCredit(key, { points: held + granted - 1, until: performance.now() + leftMs });
      }
      return { allowed: true };
    },
    async hold(limit, subject, place, max, ttlMs) {
      return (await holdScript([limitKey(limit, subject)], [place, max, ttlMs])) === 1;
    },
    async release(limit, subject, place) {
      await orUnavailable(() => redis.zrem(limitKey(limit, subject), place), onError);
    },
  };
}
