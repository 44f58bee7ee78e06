import { afterAll, it } from 'vitest';
import { walkA2a } from '../harness/a2a/walk.ts';
import { openRedisPods } from '../harness/engines/redis-pods.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { startCluster } from '../harness/redis/cluster.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { backendContract } from './suite.ts';

const NAME = 'the Redis backend on a Cluster';

const started = await startCluster({ masters: 3, replicas: 0, nodeTimeoutMs: 30_000 }).catch(
  (error: unknown) => String(error),
);
if (typeof started === 'string') {
  suiteNotRun(NAME, started);
} else {
  const { nodes, servers } = started;
  afterAll(() => started.stop());
  backendContract(NAME, {
    hasLine: true,
    isTopology: true,
    open: (settings) => openRedisPods({ kind: 'cluster', nodes }, settings),
    lose: async () => {
      await Promise.all(servers.map(({ port }) => redisCommand(port, 'FLUSHALL')));
    },
  });
  it('A2A tasks, with their pushes, on a Cluster', () => walkA2a({ kind: 'cluster', nodes }));
}
