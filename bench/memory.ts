import { Redis } from 'ioredis';
import { openBenchEngine, QUESTION, TENANT } from './engine.ts';
import { startRole } from './roles.ts';
import type { Finding } from './stats.ts';

const PENDING = 5_000;
const HEAP_WAITERS = 5_000;

/** Bytes of one pending elicitation in Redis, by what they are for, and of one waiter in a pod. */
export async function memory(redisUrl: string, progress: (text: string) => void): Promise<Finding[]> {
  const redis = new Redis(redisUrl);
  const stock = await bytesEach(redis, redisUrl, progress, 'stock settings');
  await redis.flushall();
  await redis.config('SET', 'stream-node-max-bytes', '512');
  const small = await bytesEach(redis, redisUrl, progress, 'stream-node-max-bytes 512');
  await redis.flushall();
  const role = await startRole(redisUrl);
  role.send({ do: 'heap', count: HEAP_WAITERS });
  const { bytesEach: heap } = await role.hear('heap');
  await role.kill();
  await redis.quit();
  return [
    {
      what: 'Redis bytes of a pending elicitation beyond its definition',
      measured: `row and indexes ${Math.round(stock.rowAndIndexes)}`,
      ratio: stock.rowAndIndexes / 1126,
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
      ratio: heap / 2560,
      aim: { atMost: 1 },
    },
  ];
}

async function bytesEach(redis: Redis, redisUrl: string, progress: (text: string) => void, label: string) {
  const { engine, backend } = await openBenchEngine(redisUrl);
  const before = await usedMemory(redis);
  let definitionBytes = 0;
  for (let from = 0; from < PENDING; from += 100) {
    const batch = Array.from({ length: 100 }, async (_, index) => {
      const userId = `user-${from + index}`;
      const { row } = await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId } as never });
      definitionBytes += JSON.stringify(row.definition).length;
    });
    await Promise.all(batch);
  }
  await new Promise((resolve) => setTimeout(resolve, 500));
  const all = ((await usedMemory(redis)) - before) / PENDING;
  const sums = new Map<string, number>();
  for await (const keys of redis.scanStream({ match: 'parley:*', count: 1_000 })) {
    for (const key of keys as string[]) {
      const bytes = (await redis.memory('USAGE', key, 'SAMPLES', 0)) ?? 0;
      const kind = kindOf(key);
      sums.set(kind, (sums.get(kind) ?? 0) + bytes);
    }
  }
  progress(
    `memory, ${label}: ${[...sums].map(([kind, bytes]) => `${kind} ${Math.round(bytes / PENDING)}`).join(', ')}`,
  );
  await backend.close();
  const of = (...kinds: string[]) => kinds.reduce((sum, kind) => sum + (sums.get(kind) ?? 0), 0) / PENDING;
  return {
    all,
    rowAndIndexes: of('elicitation', 'inbox', 'deadlines') - definitionBytes / PENDING,
    feed: of('feed'),
    timer: of('timer'),
  };
}

function kindOf(key: string): string {
  if (key.startsWith('parley:{timers')) return 'timer';
  return /^parley:\{[^}]+\}:(\w+)/.exec(key)?.[1] ?? 'other';
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}
