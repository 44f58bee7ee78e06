import type { Claims } from '../ports/claims.ts';

/** Claims in one process. */
export function createMemoryClaims(): Claims {
  const held = new Map<string, { value: string; until: number }>();
  return {
    async claim({ family, tenant, name }, value, ttlMs) {
      const key = JSON.stringify([family, tenant, name]);
      const now = Date.now();
      const holder = held.get(key);
      if (holder !== undefined && holder.until > now) return holder.value;
      held.set(key, { value, until: now + ttlMs });
      setTimeout(
        () => held.get(key)?.until === now + ttlMs && held.delete(key),
        Math.min(ttlMs, 0x7fffffff),
      ).unref();
      return value;
    },
  };
}
