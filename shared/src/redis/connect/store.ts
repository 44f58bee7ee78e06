import type { ConnectStore } from '../../ports/connect-store.ts';
import { userErased } from '../../ports/erasure.ts';
import type { Commands } from '../client/connect.ts';
import { fenceKey } from '../client/keys.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { connectEntriesKey, connectEntry, connectKey, connectKeyOf } from './keys.ts';

const PAGE = 100;

/** The entries of the hosted pages, as hashes that expire. */
export function createRedisConnectStore(redis: Commands, onError?: (error: unknown) => void): ConnectStore {
  const putScript = loadScript(redis, 'connect/put', onError);
  const takeScript = loadScript(redis, 'connect/take', onError);
  const listScript = loadScript(redis, 'connect/list', onError);
  const guarded = <T>(run: () => Promise<T>) => orUnavailable(run, onError);

  return {
    async put(name, value, ttlMs, owner) {
      if (owner !== undefined) {
        // Listed first, so that an erasure finds every entry.
        const keys = [connectEntriesKey(owner), fenceKey(owner)];
        const fencedForMs = Number(await listScript(keys, [connectEntry(name), ttlMs]));
        if (fencedForMs > 0) throw userErased(fencedForMs);
      }
      await putScript([connectKey(name)], [value, ttlMs]);
    },
    async read(name) {
      const [value, taker] = await guarded(() => redis.hmget(connectKey(name), 'value', 'taker'));
      return typeof value === 'string' ? { value, taken: typeof taker === 'string' } : undefined;
    },
    async take(name, taker) {
      const value = await takeScript([connectKey(name)], [taker]);
      return typeof value === 'string' ? value : undefined;
    },
    async drop(name) {
      await guarded(() => redis.del(connectKey(name)));
    },
    async dropOf(owner) {
      let dropped = 0;
      for (;;) {
        const entries = await guarded(() => redis.zrange(connectEntriesKey(owner), '0', `${PAGE - 1}`));
        if (entries.length === 0) return dropped;
        const counts = await guarded(() =>
          Promise.all(entries.map((entry) => redis.unlink(connectKeyOf(entry)))),
        );
        dropped += counts.reduce((sum, count) => sum + count, 0);
        await guarded(() => redis.zrem(connectEntriesKey(owner), ...entries));
      }
    },
  };
}
