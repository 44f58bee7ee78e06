import { afterAll } from 'vitest';
import { openRedisPods } from '../harness/engines/redis-pods.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { startSentinel } from '../harness/redis/sentinel.ts';
import { backendContract } from './suite.ts';

const NAME = 'the Redis backend behind Sentinels';

const started = await startSentinel({ downAfterMs: 30_000 }).catch((error: unknown) => String(error));
if (typeof started === 'string') {
  suiteNotRun(NAME, started);
} else {
  const { sentinels, name, masterPort } = started;
  afterAll(() => started.stop());
  backendContract(NAME, {
    hasLine: true,
    isTopology: true,
    open: (settings) => openRedisPods({ kind: 'sentinel', nodes: sentinels, name }, settings),
    lose: async () => {
      await redisCommand(await masterPort(), 'FLUSHALL');
    },
  });
}
