import { afterAll } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { startCluster } from '../harness/redis/cluster.ts';
import { openRedisVault } from '../harness/vault/redis-stores.ts';
import { vaultContract } from './suite.ts';

const NAME = 'the vault on a Cluster';

const started = await startCluster({ masters: 3, replicas: 0, nodeTimeoutMs: 30_000 }).catch(
  (error: unknown) => String(error),
);
if (typeof started === 'string') {
  suiteNotRun(NAME, started);
} else {
  const { nodes, servers } = started;
  afterAll(() => started.stop());
  vaultContract(NAME, () =>
    openRedisVault(
      { kind: 'cluster', nodes },
      servers.map(({ port }) => port),
    ),
  );
}
