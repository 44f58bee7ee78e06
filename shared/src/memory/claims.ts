import type { ClaimName, Claims } from '../ports/elicitations/claims.ts';
import { createExpiringMap } from './expiring-map.ts';

/** Claims in one process. */
export function createMemoryClaims(): Claims {
  const held = createExpiringMap<{ readonly value: string; readonly until: number }>();
  return {
    async claim(name, value, ttlMs) {
      const key = keyOf(name);
      const holder = held.get(key);
      if (holder !== undefined && holder.value !== value) return holder.value;
      const until = Math.max(holder?.until ?? 0, Date.now() + ttlMs);
      held.set(key, { value, until }, until);
      return value;
    },
    read: async (name) => held.get(keyOf(name))?.value,
    async drop(name, value) {
      if (held.get(keyOf(name))?.value === value) held.delete(keyOf(name));
    },
  };
}

function keyOf({ family, tenant, name }: ClaimName): string {
  return JSON.stringify([family, tenant, name]);
}
