import { randomUUID } from 'node:crypto';
import { connectCommands, connectSubscriber } from '@parley/shared/redis/client/connect';
import { podKey, probeChannel } from '@parley/shared/redis/client/keys';
import { createSubscriber } from '@parley/shared/redis/client/subscriber';
import { createRedisHeartbeats } from '@parley/shared/redis/runs/heartbeats';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { single } from '../../harness/worker/setup.ts';

const LEASE_MS = 600_000;

let server: RedisServer;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await server?.stop();
});

/** The heartbeats of a pod that has been subscribed for this long. */
async function openPod(healthyForMs = 60_000) {
  const location = single(server.url);
  const redis = connectCommands(location);
  const channel = probeChannel(randomUUID());
  const subscriber = createSubscriber({
    open: (attempt) => connectSubscriber(location, redis, attempt),
    probeChannel: channel,
    publishProbe: () => redis.publish(channel, ''),
  });
  closing.push(
    () => redis.disconnect(),
    () => subscriber.close(),
  );
  await waitUntil(subscriber.healthy, { what: 'the subscription' });
  const line = { channel, healthyForMs: () => (subscriber.healthy() ? healthyForMs : 0) };
  return { subscriber, heartbeats: createRedisHeartbeats({ redis, line }) };
}

it('a pod whose connection has ended is seen at once, though its lease lasts', async () => {
  const [dying, living] = [await openPod(), await openPod()];
  await dying.heartbeats.beat('dying', LEASE_MS);
  expect(await living.heartbeats.connected('dying')).toBe(true);
  await dying.subscriber.close();
  await waitUntil(async () => !(await living.heartbeats.connected('dying')), { what: 'the end' });
  expect(await living.heartbeats.alive('dying')).toBe(true);
});

it('a pod counts as connected while nothing can be known: to a pod that has just subscribed, and with the heartbeat of an older version', async () => {
  const [dying, living, fresh] = [await openPod(), await openPod(), await openPod(4_000)];
  await dying.heartbeats.beat('dying', LEASE_MS);
  await redisCommand(server.url, 'SET', podKey('older'), '1', 'PX', LEASE_MS);
  await dying.subscriber.close();
  await waitUntil(async () => !(await living.heartbeats.connected('dying')), { what: 'the end' });
  expect(await fresh.heartbeats.connected('dying')).toBe(true);
  expect(await living.heartbeats.connected('older')).toBe(true);
  await living.subscriber.close();
  expect(await living.heartbeats.connected('dying')).toBe(true);
});
