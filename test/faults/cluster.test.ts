import { afterAll, describe, it, vi } from 'vitest';
import { startCluster } from '../harness/cluster.ts';
import { type Fleet, openFleet, throughFailover } from './failover.ts';

vi.setConfig({ testTimeout: 30 * 60_000, hookTimeout: 300_000 });

const NAME =
  'F8 on a Cluster of three masters, a load goes on through the failover and what it lost is counted';
const SOME_SLOT = 0;

const started = await startCluster({ masters: 3, replicas: 1 }).catch((error: unknown) => String(error));

describe(NAME, () => {
  if (typeof started === 'string') {
    process.stdout.write(`not run: ${NAME}: ${started}\n`);
    it.skip(`not run: ${started}`, () => undefined);
    return;
  }
  const { nodes, servers } = started;
  let fleet: Fleet | undefined;

  async function fleetOf(): Promise<Fleet> {
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
    await throughFailover(await fleetOf(), {
      title: `F8 Cluster, a master is ${how}`,
      async cause() {
        await (how === 'killed' ? started.killMasterOf(SOME_SLOT) : started.pauseMasterOf(SOME_SLOT));
        await started.waitOk();
      },
      async heal() {
        for (const server of servers) {
          if (server.paused) server.resume();
          else if (!server.running) await server.restart();
        }
        await started.waitOk();
      },
    });
  });
});
