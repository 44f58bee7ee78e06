import type { Owner } from '@parley/core/domain/ids';
import { userErased } from '../../ports/erasure.ts';
import {
  type OwnerRecords,
  type RecordBound,
  type RecordChange,
  type RecordKind,
  workflowQuota,
} from '../../ports/owner-records.ts';
import type { Commands } from '../client/connect.ts';
import { fenceKey, ownedBy } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';

const PAGE = 100;
/** The reply of `put` when the owner has the maximum number of records. */
const FULL = 0;

/** String: one record of an owner. */
export function recordKey(owner: Owner, name: string): string {
  return ownedBy(owner, 'record', `/${encodeURIComponent(name)}`);
}

/** Sorted set: the names of an owner's records of one kind, by expiry time (ms). */
function recordsKey(owner: Owner, kind: RecordKind): string {
  return ownedBy(owner, `${kind}-records`);
}

interface OwnerRecordsOptions {
  readonly kind: RecordKind;
  readonly bound: RecordBound;
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Records of owners, as strings that expire, in the slots of their owners. */
export function createRedisOwnerRecords(
  redis: Commands,
  { kind, bound, onError }: OwnerRecordsOptions,
): OwnerRecords {
  const put = loadScript(redis, 'records/put', onError);
  const renew = loadScript(redis, 'records/renew', onError);
  const now = loadScript(redis, 'client/now', onError);
  const remove = loadScript(redis, 'records/remove', onError);
  const guarded = <T>(run: () => Promise<T>) => orUnavailable(run, onError);
  const keysOf = (owner: Owner, name: string) => [recordKey(owner, name), recordsKey(owner, kind)];

  /** Removes records before their names, so that whatever an interruption leaves behind is still listed. */
  async function drop(owner: Owner, names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    await guarded(() => redis.unlink(...names.map((name) => recordKey(owner, name))));
    await guarded(() => redis.zrem(recordsKey(owner, kind), ...names));
  }

  async function store(owner: Owner, { name, from = '', to, ttlMs, whilst }: RecordChange): Promise<string> {
    const keys = [...keysOf(owner, name), fenceKey(owner), recordKey(owner, whilst?.name ?? name)];
    const args = [name, to, ttlMs, bound.max, bound.beyond, from, whilst?.value ?? ''];
    const reply = await put(keys, args);
    const [stored, more] = reply as readonly [null, number] | readonly [string, readonly string[]];
    if (stored === null) throw more === FULL ? workflowQuota() : userErased(more);
    await drop(owner, more);
    return stored;
  }

  return {
    putIfAbsent: (owner, name, value, ttlMs) => store(owner, { name, to: value, ttlMs }),
    replace: async (owner, change) => (await store(owner, change)) === change.to,
    async read(owner, name, renewMs) {
      const value =
        renewMs === undefined
          ? await guarded(() => redis.get(recordKey(owner, name)))
          : await renew(keysOf(owner, name), [name, renewMs]);
      return typeof value === 'string' ? value : undefined;
    },
    now: async (owner) => Number(await now([recordsKey(owner, kind)], [])),
    async list(owner, prefix) {
      const names = await guarded(() => redis.zrange(recordsKey(owner, kind), '0', '-1'));
      const found = await Promise.all(
        names
          .filter((name) => name.startsWith(prefix))
          .map(async (name) => ({ name, value: await guarded(() => redis.get(recordKey(owner, name))) })),
      );
      return found.flatMap(({ name, value }) => (value === null ? [] : [{ name, value }]));
    },
    async remove(owner, name, value) {
      const args = value === undefined ? [name] : [name, value];
      return (await remove(keysOf(owner, name), args)) === 1;
    },
    async removeAll(owner) {
      for (;;) {
        const names = await guarded(() => redis.zrange(recordsKey(owner, kind), '0', `${PAGE - 1}`));
        if (names.length === 0) return;
        await drop(owner, names);
      }
    },
  };
}
