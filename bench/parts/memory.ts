import { Redis } from 'ioredis';
import type { Bench } from '../bench.ts';
import type { Measurement } from '../measurement.ts';
import { openBenchEngine, QUESTION, TENANT } from '../pod/engine.ts';
import { startChild } from '../processes/start-child.ts';
import { bytesByKind, formatBytes, usedMemory } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';

const PENDING = 5_000;
const HEAP_WAITERS = 5_000;

/** Bytes of one pending elicitation in Redis, by what they are for, and of one waiter in a pod. */
export async function memory(bench: Bench): Promise<Measurement[]> {
  const { redisUrl, scaled } = bench;
  const redis = new Redis(redisUrl);
  const stock = await bytesEach(redis, bench, 'stock settings');
  await redis.flushall();
  await redis.config('SET', 'stream-node-max-bytes', '512');
  const small = await bytesEach(redis, bench, 'stream-node-max-bytes 512');
  await redis.flushall();
  const child = await startChild(redisUrl);
  child.send({ do: 'heap', count: scaled(HEAP_WAITERS, 50) });
  const { bytesEach: heap } = await child.receive('heap');
  await child.kill();
  await redis.quit();
  return [
    {
      what: 'Redis bytes of a pending elicitation beyond its definition',
      measured: `row and indexes ${Math.round(stock.rowAndIndexes)}`,
      ratios: [stock.rowAndIndexes / 1126],
      aim: { atMost: 1 },
    },
    { what: 'its feed, stock settings', measured: `${Math.round(stock.feed)} bytes` },
    { what: 'its feed, stream-node-max-bytes 512', measured: `${Math.round(small.feed)} bytes` },
    { what: 'its timer (BullMQ job)', measured: `${Math.round(stock.timer)} bytes` },
    {
      what: 'everything, by used_memory',
      measured: `${Math.round(stock.all)} bytes stock, ${Math.round(small.all)} with 512`,
    },
    {
      what: 'heap of one waiter',
      measured: `${Math.round(heap)} bytes`,
      ratios: [heap / 2560],
      aim: { atMost: 1 },
    },
  ];
}

async function bytesEach(redis: Redis, { redisUrl, scaled, progress }: Bench, settings: string) {
  const { engine, backend } = await openBenchEngine(redisUrl);
  const pending = scaled(PENDING, 50);
  const before = await usedMemory(redis);
  let definitionBytes = 0;
  await inSlots(pending, 100, async (index) => {
    const { row } = await engine.ask({
      tenant: TENANT,
      input: { ...QUESTION, userId: `user-${index}` } as never,
    });
    definitionBytes += JSON.stringify(row.definition).length;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const all = ((await usedMemory(redis)) - before) / pending;
  const sums = await bytesByKind(redis);
  progress(`memory, ${settings}: ${formatBytes(sums, pending)}`);
  await backend.close();
  const sum = (...kinds: string[]) =>
    kinds.reduce((total, kind) => total + (sums.get(kind) ?? 0), 0) / pending;
  return {
    all,
    rowAndIndexes: sum('elicitation', 'inbox', 'deadlines') - definitionBytes / pending,
    feed: sum('feed'),
    timer: sum('timers'),
  };
}
