import type { Claims } from '../ports/claims.ts';

/** Claims in one process. */
export function createMemoryClaims(): Claims {
  const held = new Map<string, { value: string; until: number }>();
  return {
    async claim({ family, tenant, name }, value, ttlMs) {
      const key = JSON.stringify([family, tenant, name]);
      const now = Date.now();
      const holder = held.get(key);
      const open = holder !== undefined && holder.until > now;
      if (open && holder.value !== value) return holder.value;
      const until = Math.max(open ? holder.until : 0, now + ttlMs);
      held.set(key, { value, until });
      setTimeout(
        () => held.get(key)?.until === until && held.delete(key),
        Math.min(until - now, 0x7fffffff),
      ).unref();
      return value;
    },
  };
}
