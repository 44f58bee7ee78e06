import { createRedisBackend } from '@parley/shared/redis/backend';
import { afterAll, describe, it } from 'vitest';
import { newStream } from '../harness/engines/questions.ts';
import { ROOMY } from '../harness/engines/settings.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { type ClusterTopology, startCluster } from '../harness/redis/cluster.ts';
import { infoFields, redisCommand } from '../harness/redis/redis-command.ts';
import type { RedisServer } from '../harness/redis/redis-server.ts';
import { bringBack, type Fleet, openFleet, throughFailovers } from '../harness/site/failover.ts';
import { waitUntil } from '../harness/wait-until.ts';

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

  afterAll(async () => {
    await fleet?.stop();
    await started.stop();
  });

  it('the subscription moves to a discovered node when the only configured one is killed', async () => {
    const seed = await replicaOf(servers);
    const backend = createRedisBackend({
      location: { kind: 'cluster', nodes: [{ host: '127.0.0.1', port: seed.port }] },
      settings: ROOMY,
      timerQueues: 1,
    });
    try {
      const topic = newStream();
      const wake = { position: '1-1', elicitationId: 'el_1', revision: 1, status: 'pending', at: 1 } as const;
      const signals: string[] = [];
      backend.wakes.subscribe(topic, ({ type }) => signals.push(type));
      await waitUntil(() => signals.length === 1, { what: 'the subscription' });
      await seed.kill9();
      await waitUntil(() => signals.length === 2, { what: 'the subscription at another node' });
      await backend.wakes.publish(topic, wake);
      await waitUntil(() => signals.join() === 'resync,resync,event', { what: 'the wake' });
    } finally {
      await backend.close();
      await bringBack(servers);
      await started.waitOk();
    }
  });

  it('when a master is killed, and when one is frozen', async () => {
    fleet = await openFleet({
      PARLEY_REDIS_CLUSTER: nodes.map(({ host, port }) => `${host}:${port}`).join(','),
      PARLEY_TIMER_QUEUES: '2',
    });
    const heal = async () => {
      await bringBack(servers);
      await started.waitOk();
    };
    const failover = (name: string, end: () => Promise<unknown>) => ({
      name,
      heal,
      async cause() {
        await end();
        await started.waitOk();
      },
    });
    await throughFailovers(fleet, 'F8 Cluster, a master is killed, then one is frozen', [
      failover('a master is killed', () => started.killMasterOf(SOME_SLOT)),
      failover('a master is frozen', () => started.pauseMasterOf(SOME_SLOT)),
    ]);
  });
}

async function replicaOf(servers: readonly RedisServer[]): Promise<RedisServer> {
  for (const server of servers) {
    const { role } = infoFields(await redisCommand(server.port, 'INFO', 'replication'));
    if (role === 'slave') return server;
  }
  throw new Error('The Cluster has no replica.');
}
