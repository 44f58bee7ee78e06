import type { Engine } from '@parley/shared/elicitations/engine';
import { Redis } from 'ioredis';
import { startRedis } from '../../test/harness/redis/redis-server.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, median, microseconds, quantile, ratiosOf } from '../measurement.ts';
import { openBenchEngine, QUESTION, TENANT, userOf } from '../pod/engine.ts';
import { rawLifecycles } from '../processes/raw-scripts.ts';
import { openStraight, type Straight } from '../processes/straight.ts';
import { redisCpu } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';

const LIFECYCLES = 3_000;
const ROUNDS = 3;
const UNDER_WAY = 50;
const PENDING = { few: 1_000, many: 100_000, measured: 200, rounds: 5 };

/** What a whole life costs Redis, timer included, and whether it stays the same when much is pending. */
export async function cost(bench: Bench): Promise<Measurement[]> {
  const { redisUrl, scaled, progress } = bench;
  const redis = new Redis(redisUrl);
  const { engine, backend } = await openBenchEngine(redisUrl);
  const straight = openStraight(redis);
  const raw: number[] = [];
  const parley: number[] = [];
  const shared: number[] = [];
  const straightAlone: number[] = [];
  const straightShared: number[] = [];
  const rounds = scaled(ROUNDS, 1);
  const count = scaled(LIFECYCLES, 50);
  for (let round = 0; round <= rounds; round += 1) {
    const rawEach = await redisCpu(redis, count, () => rawLifecycles(redis, count));
    const parleyEach = await redisCpu(redis, count, () => lifecycles(engine, count));
    const sharedEach = await redisCpu(redis, count, () => lifecycles(engine, count, sharedStreamOf));
    const straightEach = await redisCpu(redis, count, () => straightLives(straight, count));
    const straightSharedEach = await redisCpu(redis, count, () =>
      straightLives(straight, count, sharedStreamOf),
    );
    progress(
      `cost ${round}/${rounds}: raw ${rawEach.toFixed(1)} us, Parley ${parleyEach.toFixed(1)} us of Redis CPU, with a feed ${sharedEach.toFixed(1)} us`,
    );
    if (round === 0) continue;
    raw.push(rawEach);
    parley.push(parleyEach);
    shared.push(sharedEach);
    straightAlone.push(straightEach);
    straightShared.push(straightSharedEach);
  }
  await backend.close();
  await redis.quit();
  const growth = await pendingGrowth(bench);
  return [
    {
      what: 'Redis CPU, raw open and settle',
      measured: `${median(raw).toFixed(1)} us`,
    },
    { what: 'Redis CPU, whole life with timer', measured: `${median(parley).toFixed(1)} us` },
    {
      what: 'Redis CPU of a whole life over raw',
      measured: 'ratio',
      ratios: ratiosOf(parley, raw),
      aim: { atMost: 2.1 },
    },
    {
      what: 'the same on a stream request of several questions, with its feed',
      measured: `${median(shared).toFixed(1)} us`,
      ratios: ratiosOf(shared, raw),
      aim: { atMost: 2.6 },
    },
    ...floorsOf({ parley, shared, straight: straightAlone, straightShared, raw }),
    growth,
  ];
}

/** The same commands in scripts without rules: what the design costs before anything is compared. */
function floorsOf(figures: Record<'parley' | 'shared' | 'straight' | 'straightShared' | 'raw', number[]>) {
  const { parley, shared, straight, straightShared, raw } = figures;
  return [
    {
      what: 'its floor: the commands of a whole life without the rules, over raw',
      measured: `${median(straight).toFixed(1)} us`,
      ratios: ratiosOf(straight, raw),
    },
    {
      what: 'the same on a stream request of several questions',
      measured: `${median(straightShared).toFixed(1)} us`,
      ratios: ratiosOf(straightShared, raw),
    },
    { what: 'a whole life over its floor', measured: 'ratio', ratios: ratiosOf(parley, straight) },
    {
      what: 'the same on a stream request of several questions',
      measured: 'ratio',
      ratios: ratiosOf(shared, straightShared),
    },
  ];
}

async function straightLives(
  straight: Straight,
  count: number,
  streamOf?: (userId: string) => string,
): Promise<void> {
  await inSlots(count, UNDER_WAY, async (index) => {
    const userId = userOf(index);
    const row = await straight.open(userId, streamOf?.(userId));
    await straight.settle(row, { environment: 'staging', at: 1 });
  });
}

async function lifecycles(
  engine: Engine,
  count: number,
  streamOf?: (userId: string) => string,
): Promise<void> {
  await inSlots(count, UNDER_WAY, async (index) => {
    const userId = userOf(index);
    const streamRequestId = streamOf?.(userId);
    const input = { ...QUESTION, userId, ...(streamRequestId !== undefined && { streamRequestId }) };
    const { row } = await engine.ask({ tenant: TENANT, input: input as never });
    await settle(engine, userId, row.id);
  });
}

function sharedStreamOf(userId: string): string {
  return `stream-of-${userId}`;
}

async function settle(engine: Engine, userId: string, id: string): Promise<void> {
  await engine.answer({
    caller: { kind: 'user', tenant: TENANT, userId },
    id,
    response: { action: 'accept', content: { environment: 'staging', at: 1 } },
    surface: 'api',
  });
}

/**
 * What many pending questions cost Redis: two engines in this process, each with a Redis of its own, take turns, so that what a
 * shared machine and the process do at the same time concerns both.
 */
async function pendingGrowth(bench: Bench): Promise<Measurement> {
  const other = await startRedis({ args: ['--save', '', '--appendonly', 'no'] });
  try {
    return await compareGrowth(bench, other.url);
  } finally {
    await other.stop();
  }
}

async function compareGrowth({ redisUrl, scaled, progress }: Bench, otherUrl: string): Promise<Measurement> {
  const [few, many] = [scaled(PENDING.few, 10), scaled(PENDING.many, 100)];
  const opened = await Promise.all([openBenchEngine(redisUrl), openBenchEngine(otherUrl)]);
  const amongFew = { engine: opened[0].engine, took: [] as number[] };
  const amongMany = { engine: opened[1].engine, took: [] as number[] };
  progress(`cost: filling up to ${many} pending`);
  await fill(amongFew.engine, few);
  await fill(amongMany.engine, many);
  for (let round = 0; round <= scaled(PENDING.rounds, 1); round += 1) {
    for (const one of [amongFew, amongMany]) {
      const p50 = await settleP50(one.engine, scaled(PENDING.measured, 10));
      // The first round warms the code up.
      if (round > 0) one.took.push(p50);
    }
  }
  await Promise.all(opened.map(({ backend }) => backend.close()));
  return {
    what: `settle p50 with ${many.toLocaleString('en')} pending in Redis over that with ${few.toLocaleString('en')}`,
    measured: `${median(amongMany.took)} us over ${median(amongFew.took)} us`,
    ratios: ratiosOf(amongMany.took, amongFew.took),
    aim: { atMost: 1.1 },
  };
}

async function fill(engine: Engine, count: number): Promise<void> {
  await inSlots(count, UNDER_WAY, async (index) => {
    await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId: userOf(index) } as never });
  });
}

async function settleP50(engine: Engine, count: number): Promise<number> {
  const took: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const userId = userOf(index);
    const { row } = await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId } as never });
    const startedAt = microseconds();
    await settle(engine, userId, row.id);
    took.push(microseconds() - startedAt);
  }
  return quantile(took, 0.5);
}
