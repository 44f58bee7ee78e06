import { afterAll } from 'vitest';
import { findRedis } from '../harness/find-redis.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { redisCommand } from '../harness/redis-command.ts';
import { openRedisPods } from './redis-pods.ts';
import { backendContract } from './suite.ts';
import { tidyUp } from './tidy.ts';

const NAME = 'the Redis backend on one server';

const found = await findRedis();
if ('notRun' in found) {
  suiteNotRun(NAME, found.notRun);
} else {
  const { url, serverBinary } = found;
  afterAll(async () => {
    if (serverBinary === undefined) await tidyUp(url);
    await found.stop();
  });
  backendContract(NAME, {
    open: (settings) => openRedisPods({ kind: 'single', url }, settings),
    // Only a server of our own may be emptied.
    ...(serverBinary !== undefined && {
      lose: async () => {
        await redisCommand(url, 'FLUSHALL');
      },
    }),
  });
}
