import type { Claims } from '../ports/claims.ts';

/** Claims in one process. */
export function createMemoryClaims(): Claims {
  const held = new Map<string, { value: string; until: number; timer: NodeJS.Timeout }>();
  return {
    async claim({ family, tenant, name }, value, ttlMs) {
      const key = JSON.stringify([family, tenant, name]);
      const now = Date.now();
      const holder = held.get(key);
      const open = holder !== undefined && holder.until > now;
      if (open && holder.value !== value) return holder.value;
      const until = Math.max(open ? holder.until : 0, now + ttlMs);
      clearTimeout(holder?.timer);
      const timer = setTimeout(() => held.delete(key), Math.min(until - now, 0x7fffffff)).unref();
      held.set(key, { value, until, timer });
      return value;
    },
  };
}
