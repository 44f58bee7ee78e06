import { afterAll, it } from 'vitest';
import { walkA2a } from '../harness/a2a/walk.ts';
import { redisStore } from '../harness/engines/redis-pods.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { startCluster } from '../harness/redis/cluster.ts';
import { backendContract } from './suite.ts';

const NAME = 'the Redis backend on a Cluster';

const started = await startCluster({ masters: 3, replicas: 0, nodeTimeoutMs: 30_000 }).catch(String);
if (typeof started === 'string') {
  suiteNotRun(NAME, started);
} else {
  const { nodes, servers } = started;
  afterAll(() => started.stop());
  const masters = async () => servers.map(({ port }) => port);
  backendContract(NAME, { ...redisStore({ kind: 'cluster', nodes }, masters), isTopology: true });
  it('A2A tasks, with their pushes, on a Cluster', () => walkA2a({ kind: 'cluster', nodes }));
}
