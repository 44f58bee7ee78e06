import type { Owner } from '@parley/core/domain/ids';
import {
  type NamedValue,
  type OwnerRecords,
  type RecordBound,
  type RecordChange,
  workflowQuota,
} from '../ports/owner-records.ts';
import { createExpiringMap } from './expiring-map.ts';
import type { MemoryFence } from './fence.ts';
import { ownerKey } from './owner-key.ts';

interface OwnedValue extends NamedValue {
  readonly key: string;
  readonly owner: string;
  readonly until: number;
}

/** Records of owners in one process. */
export function createMemoryOwnerRecords(
  fence: Pick<MemoryFence, 'check'>,
  { max, beyond }: RecordBound,
): OwnerRecords {
  const held = createExpiringMap<OwnedValue>();
  const keyOf = (owner: Owner, name: string) => JSON.stringify([ownerKey(owner), name]);

  /** Removes records until there is room for one more. */
  function makeRoom(of: string): void {
    const owned = held.values().filter(({ owner }) => owner === of);
    const over = owned.length + 1 - max;
    if (over <= 0) return;
    if (beyond === 'refuse') throw workflowQuota();
    owned.sort((one, other) => one.until - other.until);
    for (const { key } of owned.slice(0, over)) held.delete(key);
  }

  function store(owner: Owner, { name, from, to, ttlMs, whilst }: RecordChange): string | undefined {
    fence.check(owner);
    const key = keyOf(owner, name);
    const found = held.get(key)?.value;
    const isMet = whilst === undefined || held.get(keyOf(owner, whilst.name))?.value === whilst.value;
    if (found !== from || !isMet) return found;
    const until = Date.now() + ttlMs;
    if (found === undefined) makeRoom(ownerKey(owner));
    held.set(key, { key, owner: ownerKey(owner), name, value: to, until }, until);
    return to;
  }

  return {
    putIfAbsent: async (owner, name, value, ttlMs) => store(owner, { name, to: value, ttlMs }) ?? value,
    replace: async (owner, change) => store(owner, change) === change.to,
    async read(owner, name, renewMs) {
      const found = held.get(keyOf(owner, name));
      if (found === undefined) return undefined;
      const until = Math.max(found.until, Date.now() + (renewMs ?? 0));
      if (until > found.until) held.set(found.key, { ...found, until }, until);
      return found.value;
    },
    now: async () => Date.now(),
    async list(owner, prefix) {
      const of = ownerKey(owner);
      const owned = held.values().filter((one) => one.owner === of && one.name.startsWith(prefix));
      return owned.sort((one, other) => one.until - other.until).map(({ name, value }) => ({ name, value }));
    },
    async remove(owner, name, value) {
      const found = held.get(keyOf(owner, name));
      if (found === undefined || (value !== undefined && found.value !== value)) return false;
      held.delete(found.key);
      return true;
    },
    async removeAll(owner) {
      for (const { key, owner: of } of held.values()) if (of === ownerKey(owner)) held.delete(key);
    },
  };
}
