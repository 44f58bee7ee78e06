import { BUCKET_COUNT, bucketOf } from '@parley/core/domain/ids';
import { createRedisBackend } from '@parley/shared/redis/backend';
import { canaryKey, tagOf } from '@parley/shared/redis/client/keys';
import { slotOf } from '@parley/shared/redis/client/slot';
import { afterAll, describe, it } from 'vitest';
import { newStream } from '../harness/engines/questions.ts';
import { ROOMY } from '../harness/engines/settings.ts';
import type { Owner } from '../harness/history/events.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { sized } from '../harness/proof-size.ts';
import { type ClusterTopology, startCluster } from '../harness/redis/cluster.ts';
import { countErrors, infoFields, redisCommand } from '../harness/redis/redis-command.ts';
import type { RedisServer } from '../harness/redis/redis-server.ts';
import {
  bringBack,
  type Fleet,
  openFleet,
  throughChanges,
  throughFailovers,
} from '../harness/site/failover.ts';
import { createPodClient, newOwner } from '../harness/site/pod-client.ts';
import { waitUntil } from '../harness/wait-until.ts';

const NAME =
  'F8 on a Cluster of three masters, a load continues through the failover, and its losses are counted';
const SOME_SLOT = 0;
/** Their hash tags. */
const TIMER_QUEUES = ['timers-0', 'timers-1'];
const MOVES = sized(40, 3);
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

  const openedFleet = async () => {
    fleet ??= await openFleet({
      PARLEY_REDIS_CLUSTER: nodes.map(({ host, port }) => `${host}:${port}`).join(','),
      PARLEY_TIMER_QUEUES: `${TIMER_QUEUES.length}`,
      PARLEY_CANARY_MS: '1000',
    });
    return fleet;
  };

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
      await waitUntil(() => signals.length > 1, { what: 'the subscription at another node' });
      // A node that is busy may be left for a further one, with a resync in place of what was published in the meantime.
      const arrives = async () => {
        await backend.wakes.publish(topic, wake);
        return signals.includes('event');
      };
      await waitUntil(arrives, { what: 'a wake' });
    } finally {
      await backend.close();
      await bringBack(servers);
      await started.waitOk();
    }
  });

  it('slots move between masters: no acknowledged answer is lost, and no call is refused for long', async () => {
    const opened = await openedFleet();
    const pod = createPodClient({ url: opened.urls[0] ?? '' });
    const redirected = () => countErrors(servers, ['ASK', 'TRYAGAIN']);
    const move = async () => {
      const before = await redirected();
      const slots = await busiestSlots(started);
      await started.moveSlots(slots, async () => {
        // The load may have no call for this slot in flight. This one ends when the slot has moved.
        void pod.tryToAsk({ owner: ownerIn(slots[0]) });
        await waitUntil(async () => (await redirected()) > before, { what: 'a call on a slot that moves' });
      });
      // Workers block on a key of each.
      for (const queue of TIMER_QUEUES) await started.moveSlots([slotOf(queue)], async () => undefined);
    };
    const moves = Array.from({ length: MOVES }, () => move);
    await throughChanges(opened, 'F8 Cluster, slots move under load', moves);
    const beat = async () => {
      const slot = Number(await redisCommand(servers[0]?.port ?? 0, 'CLUSTER', 'KEYSLOT', canaryKey()));
      return redisCommand(await started.masterOf(slot), 'GET', canaryKey());
    };
    const last = await beat();
    await waitUntil(async () => (await beat()) !== last, { what: 'a job that the worker runs' });
  });

  it('when a master is killed, when one is frozen, and when one is replaced', async () => {
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
    await throughFailovers(await openedFleet(), 'F8 Cluster, a master is killed, one frozen, one replaced', [
      failover('a master is killed', () => started.killMasterOf(SOME_SLOT)),
      failover('a master is frozen', () => started.pauseMasterOf(SOME_SLOT)),
      { name: 'a master is replaced', cause: () => started.replaceMasterOf(SOME_SLOT), heal },
    ]);
  });
}

/** A person whose keys lie in a slot. */
function ownerIn(slot: number | undefined): Owner {
  for (;;) {
    const owner = newOwner();
    if (slotOf(tagOf(bucketOf(owner))) === slot) return owner;
  }
}

/** The slots of users, those with the most keys first, that lie with the master of the fullest one. */
async function busiestSlots({ masterOf }: ClusterTopology): Promise<number[]> {
  const counted = Array.from({ length: BUCKET_COUNT }, async (_, bucket) => {
    const slot = slotOf(tagOf(bucket));
    const port = await masterOf(slot);
    return { slot, port, keys: Number(await redisCommand(port, 'CLUSTER', 'COUNTKEYSINSLOT', slot)) };
  });
  const used = (await Promise.all(counted)).sort((one, other) => other.keys - one.keys);
  return used.filter(({ port, keys }) => keys > 0 && port === used[0]?.port).map(({ slot }) => slot);
}

async function replicaOf(servers: readonly RedisServer[]): Promise<RedisServer> {
  for (const server of servers) {
    const { role } = infoFields(await redisCommand(server.port, 'INFO', 'replication'));
    if (role === 'slave') return server;
  }
  throw new Error('The Cluster has no replica.');
}
