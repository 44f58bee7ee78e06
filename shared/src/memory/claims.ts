import type { Claims } from '../ports/elicitations/claims.ts';
import { createExpiringMap } from './expiring-map.ts';

/** Claims in one process. */
export function createMemoryClaims(): Claims {
  const held = createExpiringMap<{ readonly value: string; readonly until: number }>();
  return {
    async claim({ family, tenant, name }, value, ttlMs) {
      const key = JSON.stringify([family, tenant, name]);
      const holder = held.get(key);
      if (holder !== undefined && holder.value !== value) return holder.value;
      const until = Math.max(holder?.until ?? 0, Date.now() + ttlMs);
      held.set(key, { value, until }, until);
      return value;
    },
    async drop({ family, tenant, name }) {
      held.delete(JSON.stringify([family, tenant, name]));
    },
  };
}
