import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { type Commands, connectCommands } from '@parley/shared/redis/client/connect';
import { createRedisVaultStore } from '@parley/shared/redis/vault/store';
import { redisCommand, withRedis } from '../redis/redis-command.ts';
import { waitUntil } from '../wait-until.ts';
import type { VaultPods } from './stores.ts';

/** Three connections to the Redis at `location`, whose masters listen on `ports`; it is this test's alone. */
export async function openRedisVault(location: RedisLocation, ports: readonly number[]): Promise<VaultPods> {
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
  return {
    stores: [createRedisVaultStore(first), createRedisVaultStore(second), createRedisVaultStore(third)],
    dump: async () => (await Promise.all(ports.map(valuesAt))).flat(),
    async empty() {
      await Promise.all(ports.map((port) => redisCommand(port, 'FLUSHALL')));
    },
    close,
  };
}

function connect(location: RedisLocation): Commands {
  const redis = connectCommands(location);
  redis.on('error', () => undefined);
  return redis;
}

/** Every key of one server with its value: as text, and as Redis itself serialises it. */
function valuesAt(port: number): Promise<string[]> {
  return withRedis(port, async (redis) => {
    const keys = await redis.keys('*');
    const values = await Promise.all(
      keys.map(async (key) => {
        const type = await redis.type(key);
        const plain =
          type === 'hash' ? await redis.hgetall(key) : type === 'string' ? await redis.get(key) : '';
        return `${key} ${JSON.stringify(plain)} ${(await redis.dumpBuffer(key))?.toString('latin1')}`;
      }),
    );
    return values;
  });
}
