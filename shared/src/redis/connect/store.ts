import type { ConnectStore } from '../../ports/connect-store.ts';
import type { Commands } from '../client/connect.ts';
import { loadScript } from '../client/script.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { connectKey } from './keys.ts';

/** The entries of the hosted pages, as hashes that expire. */
export function createRedisConnectStore(redis: Commands, onError?: (error: unknown) => void): ConnectStore {
  const putScript = loadScript(redis, 'connect/put', onError);
  const takeScript = loadScript(redis, 'connect/take', onError);
  return {
    async put(name, value, ttlMs) {
      await putScript([connectKey(name)], [value, ttlMs]);
    },
    async read(name) {
      const [value, taker] = await orUnavailable(
        () => redis.hmget(connectKey(name), 'value', 'taker'),
        onError,
      );
      return typeof value === 'string' ? { value, taken: typeof taker === 'string' } : undefined;
    },
    async take(name, taker) {
      const value = await takeScript([connectKey(name)], [taker]);
      return typeof value === 'string' ? value : undefined;
    },
    async drop(name) {
      await orUnavailable(() => redis.del(connectKey(name)), onError);
    },
  };
}
