import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { type Commands, connectCommands } from '@parley/shared/redis/client/connect';
import { createRedisVaultStore } from '@parley/shared/redis/vault/store';
import { waitUntil } from '../wait-until.ts';
import type { VaultPods } from './stores.ts';

/** Three connections to the Redis at `location`; it is this test's alone. */
export async function openRedisVault(
  location: RedisLocation,
  { dump, empty }: Pick<VaultPods, 'dump' | 'empty'>,
): Promise<VaultPods> {
  const [first, second, third] = [connect(location), connect(location), connect(location)];
  const close = async () => {
    for (const redis of [first, second, third]) redis.disconnect();
  };
  try {
    await waitUntil(() => Promise.all([first.ping(), second.ping(), third.ping()]), {
      what: 'three connections',
    });
  } catch (error) {
    await close();
    throw error;
  }
  const stores = [
    createRedisVaultStore(first),
    createRedisVaultStore(second),
    createRedisVaultStore(third),
  ] as const;
  return { stores, dump, empty, close };
}

function connect(location: RedisLocation): Commands {
  const redis = connectCommands(location);
  redis.on('error', () => undefined);
  return redis;
}
