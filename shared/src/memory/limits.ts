import type { Limits } from '../ports/limits.ts';

/** Limits in one process. */
export function createMemoryLimits(): Limits {
  const windows = new Map<string, { used: number; until: number; isUsedUp?: boolean }>();
  const places = new Map<string, Map<string, number>>();
  const keyOf = (limit: string, subject: { tenant: string; userId: string }) =>
    JSON.stringify([limit, subject.tenant, subject.userId]);

  return {
    async take(limit, subject, { points: budget, windowSeconds }, points = 1) {
      const key = keyOf(limit, subject);
      const now = performance.now();
      let window = windows.get(key);
      if (window === undefined || window.until <= now) {
        window = { used: 0, until: now + windowSeconds * 1000 };
        windows.set(key, window);
        setTimeout(() => windows.get(key) === window && windows.delete(key), windowSeconds * 1000).unref();
      }
      window.used += points;
      if (window.used - points < budget) return { allowed: true };
      window.isUsedUp = true;
      return {
        allowed: false,
        retryAfterSeconds: Math.max(1, Math.ceil((window.until - now) / 1000)),
      };
    },
    isUsedUp(limit, subject) {
      const window = windows.get(keyOf(limit, subject));
      return window?.isUsedUp === true && window.until > performance.now();
    },
    async hold(limit, { subject, place }, max, ttlMs) {
      const key = keyOf(limit, subject);
      const now = performance.now();
      const held = new Map([...(places.get(key) ?? [])].filter(([, until]) => until > now));
      if (!held.has(place) && held.size >= max) return false;
      places.set(key, held.set(place, now + ttlMs));
      return true;
    },
    async renew(limit, held, ttlMs) {
      return held.map(({ subject, place }) => {
        const ofSubject = places.get(keyOf(limit, subject));
        if (ofSubject?.has(place) !== true) return false;
        ofSubject.set(place, performance.now() + ttlMs);
        return true;
      });
    },
    async places(limit, subject) {
      const now = performance.now();
      const held = [...(places.get(keyOf(limit, subject)) ?? [])].filter(([, until]) => until > now);
      return held.sort(([, a], [, b]) => a - b).map(([place]) => place);
    },
    async reset(limit, subject) {
      windows.delete(keyOf(limit, subject));
      places.delete(keyOf(limit, subject));
    },
    async release(limit, subject, place) {
      const key = keyOf(limit, subject);
      const held = places.get(key);
      held?.delete(place);
      if (held?.size === 0) places.delete(key);
    },
  };
}
