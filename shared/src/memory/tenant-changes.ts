import type { TenantChange, TenantChanges, TenantSignal } from '../ports/tenant-changes.ts';

/** The changes of tenants in one process, where no change is missed. */
export interface MemoryTenantChanges extends TenantChanges {
  announce(change: Omit<TenantChange, 'at'>): void;
}

export function createMemoryTenantChanges(): MemoryTenantChanges {
  const listeners = new Map<string, Set<(signal: TenantSignal) => void>>();
  return {
    announce({ kind, id, tenant, userId, change }) {
      const signal = {
        type: 'change',
        change: { kind, id, tenant, ...(userId !== undefined && { userId }), change, at: Date.now() },
      } as const;
      for (const listener of listeners.get(tenant) ?? []) queueMicrotask(() => listener(signal));
    },
    watch(tenant, listener) {
      const set = listeners.get(tenant) ?? new Set();
      listeners.set(tenant, set);
      const deliver = (signal: TenantSignal) => {
        if (set.has(deliver)) listener(signal);
      };
      set.add(deliver);
      queueMicrotask(() => deliver({ type: 'reload' }));
      return () => {
        set.delete(deliver);
        if (set.size === 0 && listeners.get(tenant) === set) listeners.delete(tenant);
      };
    },
  };
}
