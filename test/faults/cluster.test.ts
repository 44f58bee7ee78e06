import { afterAll, describe, it, vi } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { type ClusterTopology, startCluster } from '../harness/redis/cluster.ts';
import { bringBack, type Fleet, openFleet, throughFailover } from './failover.ts';

vi.setConfig({ testTimeout: 30 * 60_000, hookTimeout: 300_000 });

const NAME =
  'F8 on a Cluster of three masters, a load continues through the failover, and its losses are counted';
const SOME_SLOT = 0;
// Long enough that a busy machine is not mistaken for a dead master: only the intended failovers happen.
const NODE_TIMEOUT_MS = 4_000;

const started = await startCluster({ masters: 3, replicas: 1, nodeTimeoutMs: NODE_TIMEOUT_MS }).catch(
  (error: unknown) => String(error),
);

if (typeof started === 'string') suiteNotRun(NAME, started);
else describe(NAME, () => suite(started));

function suite(started: ClusterTopology): void {
  const { nodes, servers } = started;
  let fleet: Fleet | undefined;

  async function startFleet(): Promise<Fleet> {
    fleet ??= await openFleet({
      PARLEY_REDIS_CLUSTER: nodes.map(({ host, port }) => `${host}:${port}`).join(','),
      PARLEY_TIMER_QUEUES: '4',
    });
    return fleet;
  }

  afterAll(async () => {
    await fleet?.stop();
    await started.stop();
  });

  it.each(['killed', 'frozen'] as const)('when a master is %s', async (how) => {
    await throughFailover(await startFleet(), {
      title: `F8 Cluster, a master is ${how}`,
      async cause() {
        await (how === 'killed' ? started.killMasterOf(SOME_SLOT) : started.pauseMasterOf(SOME_SLOT));
        await started.waitOk();
      },
      async heal() {
        await bringBack(servers);
        await started.waitOk();
      },
    });
  });
}
