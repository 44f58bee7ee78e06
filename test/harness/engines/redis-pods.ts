import { createHash, randomUUID } from 'node:crypto';
import type { BackendSettings } from '@parley/shared/ports/backend';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { connectCommands, connectSubscriber } from '@parley/shared/redis/client/connect';
import { probeChannel } from '@parley/shared/redis/client/keys';
import { scriptSource } from '@parley/shared/redis/client/script';
import { createSubscriber } from '@parley/shared/redis/client/subscriber';
import { RedisEventBus } from '@parley/shared/redis/feed/event-bus';
import { createRedisDeadLetters } from '@parley/shared/redis/outbox/dead-letters';
import type { Redis } from 'ioredis';
import { dumpRedis } from '../redis/dump-redis.ts';
import { type RedisAddress, withRedis } from '../redis/redis-command.ts';
import { SCRIPTS } from '../redis/scripts.ts';
import { openRedisVault } from '../vault/redis-stores.ts';
import { waitUntil } from '../wait-until.ts';
import type { ApprovalBuses, DeadLetterLists, Pods, Store, ToolApproval } from './pods.ts';

/** The store of servers that are this test's alone. `masters` gives where those are that hold data now. */
export function redisStore(location: RedisLocation, masters: () => Promise<readonly RedisAddress[]>): Store {
  const onMasters = async <T>(use: (redis: Redis) => Promise<T>) =>
    Promise.all((await masters()).map((at) => withRedis(at, use)));
  const dump = async () => (await onMasters((redis) => dumpRedis(redis))).flat();
  const lose = async () => {
    await onMasters((redis) => redis.flushall());
  };
  return {
    location,
    hasLine: true,
    open: (settings) => openRedisPods(location, settings),
    openVault: () => openRedisVault(location, { dump, empty: lose }),
    dump,
    lose,
    async scriptsNotRun() {
      const hashes = SCRIPTS.map((name) => createHash('sha1').update(scriptSource(name)).digest('hex'));
      const known = await onMasters(async (redis) => (await redis.script('EXISTS', ...hashes)) as number[]);
      return SCRIPTS.filter((_, at) => known.every((each) => each[at] === 0));
    },
  };
}

/** Two pods with connections of their own to the Redis at `location`; resolves when both are usable. */
export async function openRedisPods(location: RedisLocation, settings: BackendSettings): Promise<Pods> {
  const open = () => createRedisBackend({ location, settings, timerQueues: 2 });
  const backend = open();
  const second = open();
  const close = async () => {
    await Promise.all([backend.close(), second.close()]);
  };
  try {
    await waitUntil(
      async () => {
        const healths = await Promise.all([backend.health(), second.health()]);
        return healths.every(({ commands, subscription }) => commands && subscription);
      },
      { what: 'both pods to be connected' },
    );
  } catch (error) {
    await close();
    throw error;
  }
  return {
    backend,
    second,
    settings,
    approvals: () => openApprovals(location),
    deadLetters: (keepMs) => openDeadLetters(location, keepMs),
    close,
  };
}

async function openDeadLetters(location: RedisLocation, keepMs: number): Promise<DeadLetterLists> {
  const connections = [connectCommands(location), connectCommands(location)] as const;
  await waitUntil(() => connections.every(({ status }) => status === 'ready'), {
    what: 'the dead letters to be connected',
  });
  const [first, second] = connections.map((redis) => createRedisDeadLetters({ redis, keepMs }));
  if (first === undefined || second === undefined) throw new Error('There are two.');
  return {
    first,
    second,
    close: async () => {
      for (const redis of connections) redis.disconnect();
    },
  };
}

async function openApprovals(location: RedisLocation): Promise<ApprovalBuses> {
  const first = openBus(location);
  const second = openBus(location);
  await waitUntil(() => first.healthy() && second.healthy(), { what: 'the approval buses to be connected' });
  return {
    first: first.bus,
    second: second.bus,
    cut: second.cut,
    close: async () => {
      await Promise.all([first.close(), second.close()]);
    },
  };
}

function openBus(location: RedisLocation) {
  const redis = connectCommands(location);
  const probe = probeChannel(randomUUID());
  let line: Redis | undefined;
  const subscriber = createSubscriber({
    open: (attempt) => {
      line = connectSubscriber(location, redis, attempt);
      return line;
    },
    probeChannel: probe,
    publishProbe: () => redis.publish(probe, ''),
    // So short that topics which are left and taken up again meet every stage of leaving.
    lingerMs: 2,
  });
  const bus = new RedisEventBus<ToolApproval>({
    redis,
    subscriber,
    family: 'tool-approval',
    encode: (event) => JSON.stringify(event),
    decode: (message) => JSON.parse(message) as ToolApproval,
  });
  return {
    bus,
    healthy: () => redis.status === 'ready' && subscriber.healthy(),
    cut: () => line?.disconnect(false),
    async close() {
      await subscriber.close();
      redis.disconnect();
    },
  };
}
