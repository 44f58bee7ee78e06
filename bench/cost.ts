import { Redis } from 'ioredis';
import { openBenchEngine, QUESTION, TENANT, userOf } from './engine.ts';
import { microseconds } from './peers.ts';
import { RAW_OPEN, RAW_SETTLE } from './raw-scripts.ts';
import { type Finding, median, quantile } from './stats.ts';

const LIFECYCLES = 3_000;
const ROUNDS = 3;
const UNDER_WAY = 50;
const FACTS_RAW_MICROSECONDS = 20;

type BenchEngine = Awaited<ReturnType<typeof openBenchEngine>>['engine'];

/** What a whole life costs Redis, timer included, and whether it stays the same when much is pending. */
export async function cost(redisUrl: string, progress: (text: string) => void): Promise<Finding[]> {
  const redis = new Redis(redisUrl);
  const { engine } = await openBenchEngine(redisUrl);
  const raw: number[] = [];
  const parley: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const rawEach = await redisCpu(redis, LIFECYCLES, () => rawLifecycles(redis));
    const parleyEach = await redisCpu(redis, LIFECYCLES, () => lifecycles(engine));
    progress(
      `cost ${round}/${ROUNDS}: raw ${rawEach.toFixed(1)} us, Parley ${parleyEach.toFixed(1)} us of Redis CPU`,
    );
    if (round === 0) continue;
    raw.push(rawEach);
    parley.push(parleyEach);
  }
  const growth = await pendingGrowth(engine, progress);
  await redis.quit();
  return [
    {
      what: 'Redis CPU, raw open and settle',
      measured: `${median(raw).toFixed(1)} us (${FACTS_RAW_MICROSECONDS} us when measured alone)`,
    },
    { what: 'Redis CPU, whole life with timer', measured: `${median(parley).toFixed(1)} us` },
    {
      what: 'Redis CPU of a whole life over raw',
      measured: 'ratio',
      ratio: median(parley) / median(raw),
      aim: { atMost: 3.5 },
    },
    growth,
  ];
}

/** User and system time of the server for each of `count` things that `run` does, in microseconds. */
async function redisCpu(redis: Redis, count: number, run: () => Promise<void>): Promise<number> {
  const before = await cpuSeconds(redis);
  await run();
  // Timers are taken away beside the replies.
  await new Promise((resolve) => setTimeout(resolve, 300));
  return ((await cpuSeconds(redis)) - before) * (1e6 / count);
}

async function cpuSeconds(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const field = (name: string) => Number(new RegExp(`${name}:([0-9.]+)`).exec(info)?.[1]);
  return field('used_cpu_user') + field('used_cpu_sys');
}

async function inLanes(count: number, run: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let index = next; index < count; index = next) {
      next += 1;
      await run(index);
    }
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, lane));
}

async function rawLifecycles(redis: Redis): Promise<void> {
  redis.defineCommand('benchOpen', { numberOfKeys: 2, lua: RAW_OPEN });
  redis.defineCommand('benchSettle', { numberOfKeys: 2, lua: RAW_SETTLE });
  const commands = redis as unknown as Record<
    'benchOpen' | 'benchSettle',
    (...args: (string | number)[]) => Promise<number>
  >;
  const definition = JSON.stringify(QUESTION);
  await inLanes(LIFECYCLES, async (index) => {
    await commands.benchOpen(`bench:{raw}:${index}`, 'bench:{raw}:deadlines', definition, index);
    await commands.benchSettle(
      `bench:{raw}:${index}`,
      'bench:{raw}:deadlines',
      '{"environment":"staging","at":1}',
      'bench:none',
    );
    await redis.del(`bench:{raw}:${index}`);
  });
}

async function lifecycles(engine: BenchEngine): Promise<void> {
  await inLanes(LIFECYCLES, async (index) => {
    const userId = userOf(index);
    const { row } = await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId } as never });
    await settle(engine, userId, row.id);
  });
}

async function settle(engine: BenchEngine, userId: string, id: string): Promise<void> {
  await engine.answer({
    caller: { kind: 'user', tenant: TENANT, userId },
    id,
    response: { action: 'accept', content: { environment: 'staging', at: 1 } },
    surface: 'api',
  });
}

async function pendingGrowth(engine: BenchEngine, progress: (text: string) => void): Promise<Finding> {
  const fill = async (count: number) => {
    await inLanes(count, async (index) => {
      await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId: userOf(index) } as never });
    });
  };
  const measure = async () => {
    const took: number[] = [];
    for (let index = 0; index < 300; index += 1) {
      const userId = userOf(index);
      const { row } = await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId } as never });
      const startedAt = microseconds();
      await settle(engine, userId, row.id);
      took.push(microseconds() - startedAt);
    }
    return quantile(took, 0.5);
  };
  await fill(1_000);
  const few = await measure();
  progress('cost: filling up to 100,000 pending');
  await fill(99_000);
  const many = await measure();
  return {
    what: 'settle p50 with 100,000 pending over that with 1,000',
    measured: `${many} us over ${few} us`,
    ratio: many / few,
    aim: { atMost: 1.2 },
  };
}
