import { Redis } from 'ioredis';
import type { Bench } from '../bench.ts';
import { inLanes } from '../lanes.ts';
import { type Measurement, median } from '../measurement.ts';
import { answer, conversationOf, openTurnPod, type TurnPod } from '../pod/turn-pod.ts';
import { withoutRecovery } from '../pod/without-recovery.ts';
import { cpuSeconds } from '../redis-usage.ts';

const TURNS = 240;
const LANES = 80;
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
      measured: `${spoken.whole} us, ${spoken.bare} us without leases and checkpoints`,
      ratio: spoken.whole / spoken.bare,
      aim: { atMost: 1.15 },
    },
    {
      what: 'the same with a model that writes all words at once',
      measured: `${atOnce.whole} us, ${atOnce.bare} us without`,
      ratio: atOnce.whole / atOnce.bare,
    },
  ];
}

async function compare(redis: Redis, { redisUrl, scaled, progress }: Bench, wordMs: number) {
  const rounds = scaled(ROUNDS, 1);
  const whole = await openTurnPod(redisUrl, { wordMs });
  const bare = await openTurnPod(redisUrl, { wordMs, instead: withoutRecovery });
  const cost = { whole: [] as number[], bare: [] as number[] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, pod] of [['bare', bare] as const, ['whole', whole] as const]) {
      const each = await cpuOfTurns(redis, pod, scaled(TURNS, 4), `${name}-${wordMs}-${round}`);
      progress(
        `runs ${round}/${rounds}, ${wordMs} ms a word, ${name}: ${each.toFixed(0)} us of Redis CPU a turn`,
      );
      if (round > 0) cost[name].push(each);
    }
  }
  await Promise.all([whole.close(), bare.close()]);
  return { whole: Math.round(median(cost.whole)), bare: Math.round(median(cost.bare)) };
}

async function cpuOfTurns(redis: Redis, pod: TurnPod, count: number, name: string): Promise<number> {
  const before = await cpuSeconds(redis);
  await inLanes(count, LANES, async (index) => {
    const conversation = conversationOf(index, name);
    const run = await pod.turns.begin({
      conversation,
      input: [{ role: 'user', content: 'Release it.' }],
      before: [],
      support: { form: true, url: true },
    });
    await answer(pod, run, await pod.questionOf(run));
    await pod.finished(run);
  });
  return ((await cpuSeconds(redis)) - before) * (1e6 / count);
}
