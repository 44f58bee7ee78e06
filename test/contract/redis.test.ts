import { afterAll } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { ensureRedisServer, findRedis } from '../harness/redis/find-redis.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { startRedis } from '../harness/redis/redis-server.ts';
import { openRedisPods } from './redis-pods.ts';
import { backendContract } from './suite.ts';
import { tidyUp } from './tidy.ts';

const NAME = 'the Redis backend on one server';

const binary = await ensureRedisServer();
if (binary !== undefined) await onServerOfItsOwn(binary);
else await onServerOfOthers();

async function onServerOfItsOwn(binary: string): Promise<void> {
  const { url, stop } = await startRedis({ binary });
  afterAll(() => stop());
  backendContract(NAME, {
    hasLine: true,
    open: (settings) => openRedisPods({ kind: 'single', url }, settings),
    lose: async () => {
      await redisCommand(url, 'FLUSHALL');
    },
  });
}

/** One that may not be emptied: what loses everything is left out. */
async function onServerOfOthers(): Promise<void> {
  const found = await findRedis();
  if ('notRun' in found) return suiteNotRun(NAME, found.notRun);
  const { url } = found;
  afterAll(async () => {
    await tidyUp(url);
    await found.stop();
  });
  backendContract(NAME, {
    hasLine: true,
    open: (settings) => openRedisPods({ kind: 'single', url }, settings),
  });
}
