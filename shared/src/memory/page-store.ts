import type { PageEntryName, PageStore } from '../ports/page-store.ts';
import { createExpiringMap } from './expiring-map.ts';
import type { MemoryFence } from './fence.ts';
import { ownerKey } from './owner-key.ts';

interface TakeableValue {
  readonly value: string;
  readonly key: string;
  readonly owners: readonly string[];
  taker?: string;
}

/** The state of the hosted pages, in one process. */
export function createMemoryPageStore(fence: Pick<MemoryFence, 'check'>): PageStore {
  const held = createExpiringMap<TakeableValue>();
  const keyOf = ({ family, id }: PageEntryName) => JSON.stringify([family, id]);

  return {
    async put(name, value, ttlMs, ...owners) {
      for (const owner of owners) fence.check(owner);
      const key = keyOf(name);
      held.set(key, { key, value, owners: owners.map(ownerKey) }, Date.now() + ttlMs);
    },
    async read(name) {
      const entry = held.get(keyOf(name));
      return entry === undefined ? undefined : { value: entry.value, taken: entry.taker !== undefined };
    },
    async take(name, taker) {
      const entry = held.get(keyOf(name));
      if (entry === undefined) return undefined;
      entry.taker ??= taker;
      return entry.taker === taker ? entry.value : undefined;
    },
    async drop(name) {
      held.delete(keyOf(name));
    },
    async dropOf(owner) {
      const own = held.values().filter(({ owners }) => owners.includes(ownerKey(owner)));
      for (const { key } of own) held.delete(key);
      return own.length;
    },
  };
}
