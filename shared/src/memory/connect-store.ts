import type { ConnectName, ConnectStore } from '../ports/connect-store.ts';
import { createExpiringMap } from './expiring-map.ts';

interface TakeableValue {
  readonly value: string;
  taker?: string;
}

/** The state of the hosted pages, in one process. */
export function createMemoryConnectStore(): ConnectStore {
  const held = createExpiringMap<TakeableValue>();
  const keyOf = ({ family, id }: ConnectName) => JSON.stringify([family, id]);

  return {
    async put(name, value, ttlMs) {
      held.set(keyOf(name), { value }, Date.now() + ttlMs);
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
      held.set(keyOf(name), { value: '' }, 0);
    },
  };
}
