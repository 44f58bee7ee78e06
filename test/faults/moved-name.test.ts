import { elicitationKey } from '@parley/shared/redis/client/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChaosProxy } from '../harness/chaos/proxy.ts';
import { sized } from '../harness/proof-size.ts';
import { countErrors, infoFields, redisCommand, untilReplicated } from '../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../harness/redis/redis-server.ts';
import { throughChanges } from '../harness/site/failover.ts';
import { choose, newOwner } from '../harness/site/pod-client.ts';
import { untilQueued } from '../harness/site/redis-monitor.ts';
import { openSite, type Site, type SitePod, untilReady } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

// Managed services fail over behind one name: it leads to another server by then, and the old master, which is a replica
// now, keeps its connections. The proxy is that name.

let site: Site;
let name: ChaosProxy;
let successor: RedisServer;
let pods: SitePod[];

beforeAll(async () => {
  site = await openSite();
  name = await site.proxy();
  successor = await startRedis({ args: ['--replicaof', `127.0.0.1 ${site.redis.port}`] });
  const linked = async () =>
    infoFields(await redisCommand(successor.url, 'INFO', 'replication')).master_link_status === 'up';
  await waitUntil(linked, { what: 'the replica to follow its master' });
  // Only the worker ends a question.
  const env = { REDIS_URL: name.url, PARLEY_LIMIT_LOCAL_TIMERS: '0' };
  [pods] = await Promise.all([Promise.all([site.pod(env), site.pod(env)]), site.worker(env)]);
});
afterAll(async () => {
  await Promise.all([site?.stop(), successor?.stop()]);
});

it('a name moves to a new master: no pod stays with the old one, waiters are woken, and the worker ends what is overdue', async () => {
  const [one, other] = pods as [SitePod, SitePod];
  const waitedFor = await one.patient.ask();
  const waiting = one.wait(waitedFor);
  const overdue = await one.patient.ask({ timeoutSeconds: 8 });
  await untilQueued(site.redis.url, [overdue]);
  await untilReplicated(site.redis.url);
  await redisCommand(successor.url, 'REPLICAOF', 'NO', 'ONE');
  await redisCommand(site.redis.url, 'REPLICAOF', '127.0.0.1', successor.port);
  for (const pod of pods) await untilNotReady(pod);
  const owner = newOwner();
  expect(await one.tryToAsk({ owner })).toMatchObject({ status: 503, code: 'unavailable' });
  name.moveTo(successor.port);
  await Promise.all(pods.map(untilReady));
  expect(await other.patient.answer(waitedFor, choose('left'))).toMatchObject({ status: 200 });
  expect(await waiting).toMatchObject({ status: 200, body: { status: 'accepted' } });
  expect(await one.patient.tryToAsk({ owner })).toMatchObject({ status: 201 });
  await waitUntil(
    async () =>
      (await redisCommand(successor.url, 'HGET', elicitationKey(overdue.id), 'status')) === 'expired',
    { what: 'the worker to end the overdue question' },
  );
});

it('under load, planned failovers behind the name lose no acknowledged answer, and no call is refused for long', async () => {
  const { role } = infoFields(await redisCommand(successor.url, 'INFO', 'replication'));
  let [master, replica] = role === 'master' ? [successor, site.redis] : [site.redis, successor];
  const failOver = async () => {
    const before = await countErrors([master], ['READONLY']);
    // As providers do it: the master takes no more writes until the replica has all of them, and they change places.
    await redisCommand(master.url, 'FAILOVER', 'TO', '127.0.0.1', replica.port);
    await waitUntil(async () => (await countErrors([master], ['READONLY'])) > before, {
      what: 'a call that the old master refuses',
    });
    name.moveTo(replica.port);
    [master, replica] = [replica, master];
  };
  const moves = Array.from({ length: sized(20, 2) }, () => failOver);
  await throughChanges({ urls: pods.map(({ url }) => url) }, 'A name moves under load', moves);
});

async function untilNotReady({ url }: SitePod): Promise<void> {
  await waitUntil(async () => (await fetch(`${url}/readyz`)).status === 503, {
    what: 'the pod to be not ready',
  });
}
