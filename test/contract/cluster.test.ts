import { afterAll, it } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { startCluster } from '../harness/redis/cluster.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { walkA2a } from '../integration/a2a/walk.ts';
import { backendContract } from './suite.ts';
import { openRedisPods } from './support/redis-pods.ts';

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
