import { afterAll } from 'vitest';
import { redisStore } from '../harness/engines/redis-pods.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { startSentinel } from '../harness/redis/sentinel.ts';
import { backendContract } from './suite.ts';

const NAME = 'the Redis backend behind Sentinels';

const started = await startSentinel({ downAfterMs: 30_000 }).catch(String);
if (typeof started === 'string') {
  suiteNotRun(NAME, started);
} else {
  const { sentinels, name, masterPort } = started;
  afterAll(() => started.stop());
  const location = { kind: 'sentinel', nodes: sentinels, name } as const;
  const masters = async () => [await masterPort()];
  backendContract(NAME, { ...redisStore(location, masters), isTopology: true });
}
