import { Redis } from 'ioredis';
import type { Bench } from '../bench.ts';
import { type Measurement, median, ratiosOf } from '../measurement.ts';
import { answer, beginTurn, openTurnPod, type TurnPod } from '../pod/turn-pod.ts';
import { withoutRecovery } from '../pod/without-recovery.ts';
import { cpuSeconds } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';

const TURNS = 240;
const SLOTS = 120;
const ROUNDS = 3;
// About thirty words a second, as models speak.
const WORD_MS = 33;

/** What leases and checkpoints add to the Redis CPU of a turn with one question. */
export async function runs(bench: Bench): Promise<Measurement[]> {
  const redis = new Redis(bench.redisUrl);
  const spoken = await compare(redis, bench, WORD_MS);
  const atOnce = await compare(redis, bench, 0);
  await redis.quit();
  return [
    {
      what: 'Redis CPU of a turn with one question',
      measured: `${shown(spoken, 'whole')} us, ${shown(spoken, 'bare')} us without leases and checkpoints`,
      ratios: ratiosOf(spoken.redis.whole, spoken.redis.bare),
      aim: { atMost: 1.15 },
    },
    {
      what: 'the same over its aim of 2,000 us',
      measured: 'ratio',
      ratios: spoken.redis.whole.map((each) => each / 2_000),
      aim: { atMost: 1 },
    },
    {
      what: 'the same with a model that writes all words at once',
      measured: `${shown(atOnce, 'whole')} us, ${shown(atOnce, 'bare')} us without`,
      ratios: ratiosOf(atOnce.redis.whole, atOnce.redis.bare),
    },
    {
      what: 'the same over its aim of 800 us',
      measured: 'ratio',
      ratios: atOnce.redis.whole.map((each) => each / 800),
      aim: { atMost: 1 },
    },
    {
      what: 'CPU of the pod for a turn with one question, its model included',
      measured: `${(median(spoken.pod) / 1_000).toFixed(1)} ms, ${(median(atOnce.pod) / 1_000).toFixed(1)} ms at once`,
      ratios: spoken.pod.map((each) => each / 8_000),
      aim: { atMost: 1 },
    },
  ];
}

interface TurnCost {
  /** Microseconds of Redis CPU a turn, of each round. */
  readonly redis: { readonly whole: number[]; readonly bare: number[] };
  /** Microseconds of this process a turn, of each round. */
  readonly pod: number[];
}

function shown({ redis }: TurnCost, name: 'whole' | 'bare'): string {
  return median(redis[name]).toFixed(0);
}

async function compare(
  redis: Redis,
  { redisUrl, scaled, progress }: Bench,
  wordMs: number,
): Promise<TurnCost> {
  const rounds = scaled(ROUNDS, 1);
  const whole = await openTurnPod(redisUrl, { wordMs });
  const bare = await openTurnPod(redisUrl, { wordMs, instead: withoutRecovery });
  const cost: TurnCost = { redis: { whole: [], bare: [] }, pod: [] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, pod] of [['bare', bare] as const, ['whole', whole] as const]) {
      const before = process.cpuUsage();
      const count = scaled(TURNS, 4);
      const each = await cpuOfTurns(redis, pod, count, `${name}-${wordMs}-${round}`);
      const { user, system } = process.cpuUsage(before);
      progress(
        `runs ${round}/${rounds}, ${wordMs} ms a word, ${name}: ${each.toFixed(0)} us of Redis CPU a turn`,
      );
      if (round === 0) continue;
      cost.redis[name].push(each);
      if (name === 'whole') cost.pod.push((user + system) / count);
    }
  }
  await Promise.all([whole.close(), bare.close()]);
  return cost;
}

async function cpuOfTurns(redis: Redis, pod: TurnPod, count: number, name: string): Promise<number> {
  const before = await cpuSeconds(redis);
  await inSlots(count, SLOTS, async (index) => {
    const run = await beginTurn(pod, index, name);
    await answer(pod, run, await pod.questionOf(run));
    await pod.finished(run);
  });
  return ((await cpuSeconds(redis)) - before) * (1e6 / count);
}
