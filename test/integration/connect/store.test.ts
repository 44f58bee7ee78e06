import { BUCKET_COUNT } from '@parley/shared/domain/ids';
import { createMemoryConnectStore } from '@parley/shared/memory/connect-store';
import { createMemoryFence } from '@parley/shared/memory/fence';
import type { ConnectStore } from '@parley/shared/ports/connect-store';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { parseKey } from '@parley/shared/redis/client/key-names';
import { slotOf } from '@parley/shared/redis/client/slot';
import { connectKey } from '@parley/shared/redis/connect/keys';
import { createRedisConnectStore } from '@parley/shared/redis/connect/store';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';

let redis: RedisServer;
let onRedis: readonly [ConnectStore, ConnectStore];
const commands: ReturnType<typeof connectCommands>[] = [];
beforeAll(async () => {
  redis = await startRedis();
  const open = () => {
    const connection = connectCommands({ kind: 'single', url: redis.url });
    connection.on('error', () => undefined);
    commands.push(connection);
    return createRedisConnectStore(connection);
  };
  onRedis = [open(), open()];
  const answers = async () => (await Promise.all(commands.map((one) => one.ping()))).join() === 'PONG,PONG';
  await waitUntil(answers, { what: 'both connections' });
});
afterAll(async () => {
  for (const one of commands) one.disconnect();
  await redis.stop();
});

const HOUR_MS = 3_600_000;
let minted = 0;
const newName = () => ({ family: 'flow', id: `flow ${minted++}` }) as const;

/** The same store as two pods see it. */
const STORES: readonly [string, () => readonly [ConnectStore, ConnectStore]][] = [
  [
    'memory',
    () => {
      const store = createMemoryConnectStore(createMemoryFence());
      return [store, store];
    },
  ],
  ['Redis', () => onRedis],
];

describe.each(STORES)('what hosted pages keep in %s', (_kind, open) => {
  test('can be read by every pod, under its own family only', async () => {
    const [here, there] = open();
    const name = newName();
    await here.put(name, 'one', HOUR_MS);
    expect(await there.read(name)).toEqual({ value: 'one', taken: false });
    expect(await there.read({ ...name, family: 'sign-in' })).toBeUndefined();
    await there.put(name, 'two', HOUR_MS);
    expect(await here.read(name)).toEqual({ value: 'two', taken: false });
  });

  test('is given to one taker only, and again to the same one', async () => {
    const [here, there] = open();
    const name = newName();
    await here.put(name, 'one', HOUR_MS);
    const takers = Array.from({ length: 20 }, (_, index) => `taker ${index}`);
    const given = await Promise.all(
      takers.map((taker, index) => [here, there][index % 2]?.take(name, taker)),
    );
    const winners = takers.filter((_, index) => given[index] === 'one');
    expect(winners).toHaveLength(1);
    expect(await there.take(name, winners[0] ?? '')).toBe('one');
    expect(await here.take(name, 'late')).toBeUndefined();
    expect(await here.read(name)).toEqual({ value: 'one', taken: true });
    expect(await here.take(newName(), 'anybody')).toBeUndefined();
  });

  test('is deleted when it is dropped, and by its expiry', async () => {
    const [here, there] = open();
    const [dropped, lapsing] = [newName(), newName()];
    await here.put(dropped, 'one', HOUR_MS);
    await there.drop(dropped);
    await there.drop(dropped);
    expect(await here.read(dropped)).toBeUndefined();
    expect(await here.take(dropped, 'anybody')).toBeUndefined();
    await here.put(lapsing, 'one', 20);
    await waitUntil(async () => (await there.read(lapsing)) === undefined, { what: 'the entry to lapse' });
    expect(await here.take(lapsing, 'anybody')).toBeUndefined();
  });
});

test('everything in Redis has a time to live, also once it was taken', async () => {
  const [store] = onRedis;
  const name = newName();
  await store.put(name, 'one', HOUR_MS);
  await store.take(name, 'anybody');
  expect(Number(await redisCommand(redis.port, 'PTTL', connectKey(name)))).toBeGreaterThan(0);
});

test('no key in Redis contains the bearer’s value, and all keys have the right hash slot', () => {
  const names = Array.from({ length: 50 }, newName);
  for (const name of names) {
    const key = connectKey(name);
    expect(key).not.toContain(name.id);
    const { bucket = -1, family } = parseKey(key) ?? {};
    expect(family).toBe('connect-flow');
    expect(Math.floor(slotOf(/\{(.+)\}/.exec(key)?.[1] ?? '') / (16_384 / BUCKET_COUNT))).toBe(bucket);
  }
});
