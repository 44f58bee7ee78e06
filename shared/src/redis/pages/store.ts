import { userErased } from '../../ports/erasure.ts';
import type { PageStore } from '../../ports/page-store.ts';
import type { Commands } from '../client/connect.ts';
import { fenceKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { keyOfPageEntry, pageEntriesKey, pageEntry, pageEntryKey } from './keys.ts';

const PAGE = 100;

/** The entries of the hosted pages, as hashes that expire. */
export function createRedisPageStore(redis: Commands, onError?: (error: unknown) => void): PageStore {
  const putScript = loadScript(redis, 'pages/put', onError);
  const takeScript = loadScript(redis, 'pages/take', onError);
  const listScript = loadScript(redis, 'pages/list', onError);
  const guarded = <T>(run: () => Promise<T>) => orUnavailable(run, onError);

  return {
    async put(name, value, ttlMs, ...owners) {
      for (const owner of owners) {
        // The entry is listed before it is stored, so that an erasure finds every entry.
        const keys = [pageEntriesKey(owner), fenceKey(owner)];
        const fencedForMs = Number(await listScript(keys, [pageEntry(name), ttlMs]));
        if (fencedForMs > 0) throw userErased(fencedForMs);
      }
      await putScript([pageEntryKey(name)], [value, ttlMs]);
    },
    async read(name) {
      const [value, taker] = await guarded(() => redis.hmget(pageEntryKey(name), 'value', 'taker'));
      return typeof value === 'string' ? { value, taken: typeof taker === 'string' } : undefined;
    },
    async take(name, taker) {
      const value = await takeScript([pageEntryKey(name)], [taker]);
      return typeof value === 'string' ? value : undefined;
    },
    async drop(name) {
      await guarded(() => redis.del(pageEntryKey(name)));
    },
    async dropOf(owner) {
      let dropped = 0;
      for (;;) {
        const entries = await guarded(() => redis.zrange(pageEntriesKey(owner), '0', `${PAGE - 1}`));
        if (entries.length === 0) return dropped;
        const counts = await guarded(() =>
          Promise.all(entries.map((entry) => redis.unlink(keyOfPageEntry(entry)))),
        );
        dropped += counts.reduce((sum, count) => sum + count, 0);
        await guarded(() => redis.zrem(pageEntriesKey(owner), ...entries));
      }
    },
  };
}
