/**
 * Rate limits and places for all pods together, with few round trips: a pod takes points in batches. Which limits exist, and
 * their sizes, is decided by the callers.
 */

import { bucketOf } from '@parley/core/domain/ids';
import type { HeldPlace, Limits, LimitVerdict, Rate } from '../../ports/limits.ts';
import type { Commands } from '../client/connect.ts';
import { inGroups } from '../client/in-groups.ts';
import { limitKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable, refusesWritesOnly } from '../client/unavailable.ts';
import { createRefusals } from './refusals.ts';

// Points of large budgets are taken in batches, so that most calls need no round trip. A pod holds one batch at a time, and the
// unused rest is lost when the window ends. So each pod can lose at most this share of a budget.
const BATCHES_PER_BUDGET = 500;
// Even a budget that is used once leaves a credit in memory. Beyond this number, the oldest credits are dropped.
const CREDITS_MAX = 10_000;
// Limits the time for which one call blocks Redis.
const DRAWS_MAX = 100;

interface Credit {
  points: number;
  until: number;
}

interface Grant {
  readonly granted: number;
  readonly leftMs: number;
}

/** The points that a call of this pod wants from a budget. */
interface Draw {
  readonly key: string;
  readonly rate: Rate;
  readonly wanted: number;
  readonly resolve: (grant: Grant) => void;
  readonly reject: (error: unknown) => void;
}

/** Budgets as counters, and places as sorted sets of leases. */
export function createRedisLimits(redis: Commands, onError?: (error: unknown) => void): Limits {
  const takeScript = loadScript(redis, 'limits/take', onError);
  const holdScript = loadScript(redis, 'limits/hold', onError);
  const renewScript = loadScript(redis, 'limits/renew', onError);
  const draws = new Map<string, Draw[]>();
  const credits = new Map<string, Credit>();
  const refills = new Map<string, Promise<Grant>>();
  const refusals = createRefusals();

  function hasCredit(key: string): boolean {
    const credit = credits.get(key);
    return credit !== undefined && credit.points > 0 && performance.now() < credit.until;
  }

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

  /** Takes points. Calls within one turn of the event loop for budgets of one bucket share a round trip. */
  function draw(key: string, rate: Rate, wanted: number): Promise<Grant> {
    const tag = key.slice(0, key.indexOf('}'));
    return new Promise((resolve, reject) => {
      const together = draws.get(tag) ?? [];
      together.push({ key, rate, wanted, resolve, reject });
      if (together.length === 1) queueMicrotask(() => drawAll(tag));
      draws.set(tag, together);
      if (together.length === DRAWS_MAX) drawAll(tag);
    });
  }

  async function drawAll(tag: string): Promise<void> {
    const together = draws.get(tag) ?? [];
    draws.delete(tag);
    if (together.length === 0) return;
    const args = together.flatMap(({ rate, wanted }) => [rate.points, rate.windowSeconds * 1000, wanted]);
    const sentAt = performance.now();
    try {
      const reply = (await takeScript(
        together.map(({ key }) => key),
        args,
      )) as number[][];
      for (const [index, { key, resolve }] of together.entries()) {
        const [granted = 0, leftMs = 0] = reply[index] ?? [];
        if (granted === 0) refusals.add(key, sentAt, leftMs);
        resolve({ granted, leftMs });
      }
    } catch (error) {
      for (const { wanted, resolve, reject } of together) {
        // While Redis refuses writes, reads must continue, so points are granted; calls that write are refused anyway.
        if (refusesWritesOnly(error)) resolve({ granted: Math.max(1, wanted), leftMs: 0 });
        else reject(error);
      }
    }
  }

  function findRefusal(key: string): Grant | undefined {
    const until = refusals.find(key);
    return until === undefined ? undefined : { granted: 0, leftMs: until - performance.now() };
  }

  /** Takes a batch. Its first points are for the caller, and the others are kept for later calls. */
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

  /** Takes points from the batch that this pod holds, or from a new one. */
  async function takeAhead(key: string, rate: Rate, points: number, batch: number): Promise<LimitVerdict> {
    for (;;) {
      if (spendCredit(key, points)) return ALLOWED;
      const refusal = findRefusal(key);
      if (refusal !== undefined) return verdictOf(refusal);
      const underWay = refills.get(key);
      if (underWay === undefined) return verdictOf(await refill(key, rate, points, batch));
      const grant = await underWay;
      if (grant.granted === 0) return verdictOf(grant);
    }
  }

  return {
    async take(limit, subject, rate, points = 1) {
      const key = limitKey(limit, subject);
      const batch = rate.batch ?? Math.floor(rate.points / BATCHES_PER_BUDGET);
      if (points === 0 ? hasCredit(key) : batch > points) return takeAhead(key, rate, points, batch);
      return verdictOf(findRefusal(key) ?? (await draw(key, rate, points)));
    },
    isUsedUp: (limit, subject) => refusals.find(limitKey(limit, subject)) !== undefined,
    async hold(limit, { subject, place }, max, ttlMs) {
      return (await holdScript([limitKey(limit, subject)], [place, max, ttlMs])) === 1;
    },
    async renew(limit, held, ttlMs) {
      const renewGroup = async (group: readonly HeldPlace[]) => {
        const keys = group.map(({ subject }) => limitKey(limit, subject));
        const reply = (await renewScript(keys, [ttlMs, ...group.map(({ place }) => place)])) as number[];
        return reply.map((one) => ({ status: 'fulfilled', value: one === 1 }) as const);
      };
      const renewed = await inGroups(redis, held, ({ subject }) => bucketOf(subject), renewGroup);
      return renewed.map((one) => (one.status === 'fulfilled' ? one.value : undefined));
    },
    places: (limit, subject) =>
      orUnavailable(() => redis.zrange(limitKey(limit, subject), '-inf', '+inf', 'BYSCORE'), onError),
    async reset(limit, subject) {
      refusals.remove(limitKey(limit, subject));
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
