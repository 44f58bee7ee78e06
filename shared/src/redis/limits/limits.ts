import type { Limits, LimitVerdict, Rate } from '../../ports/limits.ts';
import type { Commands } from '../client/connect.ts';
import { limitKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable, refusesWritesOnly } from '../client/unavailable.ts';

// Large budgets are taken from Redis in batches, so that counting a call costs no round trip. A pod holds one batch at a
// time; the unused rest of it is lost when the window ends. Each pod can lose at most this share of a budget.
const BATCHES_PER_BUDGET = 500;
// A budget that is used once leaves a credit in memory; beyond this many the oldest are dropped.
const CREDITS_MAX = 10_000;

interface Credit {
  points: number;
  until: number;
}

interface Grant {
  readonly granted: number;
  readonly leftMs: number;
}

/** Budgets as counters, places as sorted sets of leases. */
export function createRedisLimits(redis: Commands, onError?: (error: unknown) => void): Limits {
  const takeScript = loadScript(redis, 'limits/take', onError);
  const holdScript = loadScript(redis, 'limits/hold', onError);
  const credits = new Map<string, Credit>();
  const refills = new Map<string, Promise<Grant>>();

  function spendCredit(key: string, points: number): boolean {
    const credit = credits.get(key);
    if (credit === undefined) return false;
    if (credit.points < points || performance.now() >= credit.until) {
      credits.delete(key);
      return false;
    }
    credit.points -= points;
    return true;
  }

  function keepCredit(key: string, credit: Credit): void {
    credits.delete(key);
    credits.set(key, credit);
    const [oldest] = credits.keys();
    if (credits.size > CREDITS_MAX && oldest !== undefined) credits.delete(oldest);
  }

  async function draw(key: string, rate: Rate, wanted: number): Promise<Grant> {
    try {
      const reply = (await takeScript([key], [rate.points, rate.windowSeconds * 1000, wanted])) as number[];
      const [granted = 0, leftMs = 0] = reply;
      return { granted, leftMs };
    } catch (error) {
      // Reads continue while Redis refuses writes, and what writes is refused by itself.
      if (refusesWritesOnly(error)) return { granted: wanted, leftMs: 0 };
      throw error;
    }
  }

  /** Takes a batch: its first points are the caller's, the others are kept for the next calls. */
  function refill(key: string, rate: Rate, points: number, batch: number): Promise<Grant> {
    const refilling = draw(key, rate, batch)
      .then((grant) => {
        const { granted, leftMs } = grant;
        if (granted > points)
          keepCredit(key, { points: granted - points, until: performance.now() + leftMs });
        return grant;
      })
      .finally(() => refills.delete(key));
    refills.set(key, refilling);
    return refilling;
  }

  return {
    async take(limit, subject, rate, points = 1) {
      const key = limitKey(limit, subject);
      const batch = rate.batch ?? Math.floor(rate.points / BATCHES_PER_BUDGET);
      if (batch <= points) return verdictOf(await draw(key, rate, points));
      for (;;) {
        if (spendCredit(key, points)) return ALLOWED;
        const underWay = refills.get(key);
        if (underWay === undefined) return verdictOf(await refill(key, rate, points, batch));
        const grant = await underWay;
        if (grant.granted === 0) return verdictOf(grant);
      }
    },
    async hold(limit, subject, place, max, ttlMs) {
      return (await holdScript([limitKey(limit, subject)], [place, max, ttlMs])) === 1;
    },
    places: (limit, subject) =>
      orUnavailable(() => redis.zrange(limitKey(limit, subject), '-inf', '+inf', 'BYSCORE'), onError),
    async reset(limit, subject) {
      await orUnavailable(() => redis.unlink(limitKey(limit, subject)), onError);
    },
    async release(limit, subject, place) {
      await orUnavailable(() => redis.zrem(limitKey(limit, subject), place), onError);
    },
  };
}

const ALLOWED: LimitVerdict = { allowed: true };

function verdictOf({ granted, leftMs }: Grant): LimitVerdict {
  return granted > 0 ? ALLOWED : { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1000)) };
}
