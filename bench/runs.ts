import type { TurnEvent } from '@parley/shared/domain/runs/turn-events';
import type { Backend } from '@parley/shared/ports/backend';
import type { Runs, RunWrite, WriteResult } from '@parley/shared/ports/runs/runs';
import { Redis } from 'ioredis';
import { type Finding, median } from './stats.ts';
import { answer, conversationOf, inLanes, openTurnPod, type TurnPod } from './turn-pod.ts';

const TURNS = 240;
const LANES = 80;
const ROUNDS = 3;
// About thirty words a second, as models speak.
const WORD_MS = 33;
const COALESCE_MS = 25;

/** What leases and checkpoints add to the Redis CPU of a turn with one question. */
export async function runs(redisUrl: string, progress: (text: string) => void): Promise<Finding[]> {
  const redis = new Redis(redisUrl);
  const spoken = await compared(redis, redisUrl, WORD_MS, progress);
  const atOnce = await compared(redis, redisUrl, 0, progress);
  await redis.quit();
  return [
    {
      what: 'Redis CPU of a turn with one question',
      measured: `${spoken.whole} us, ${spoken.bare} us without leases and checkpoints`,
      ratio: spoken.whole / spoken.bare,
      aim: { atMost: 1.15 },
    },
    {
      what: 'the same with a model that says all at once',
      measured: `${atOnce.whole} us, ${atOnce.bare} us without`,
      ratio: atOnce.whole / atOnce.bare,
    },
  ];
}

async function compared(redis: Redis, redisUrl: string, wordMs: number, progress: (text: string) => void) {
  const whole = await openTurnPod(redisUrl, { wordMs });
  const bare = await openTurnPod(redisUrl, { wordMs, instead: forgetful });
  const cost = { whole: [] as number[], bare: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, pod] of [['bare', bare] as const, ['whole', whole] as const]) {
      const each = await cpuOfTurns(redis, pod, `${name}-${wordMs}-${round}`);
      progress(
        `runs ${round}/${ROUNDS}, ${wordMs} ms a word, ${name}: ${each.toFixed(0)} us of Redis CPU a turn`,
      );
      if (round > 0) cost[name].push(each);
    }
  }
  await Promise.all([whole.close(), bare.close()]);
  return { whole: Math.round(median(cost.whole)), bare: Math.round(median(cost.bare)) };
}

async function cpuOfTurns(redis: Redis, pod: TurnPod, name: string): Promise<number> {
  const before = await cpuSeconds(redis);
  await inLanes(TURNS, LANES, async (index) => {
    const conversation = conversationOf(index, name);
    const run = await pod.turns.begin({
      conversation,
      input: [{ role: 'user', content: 'Release it.' }],
      before: [],
      support: { form: true, url: true },
    });
    await answer(pod, run, await pod.asked(run));
    await pod.left(run);
  });
  return ((await cpuSeconds(redis)) - before) * (1e6 / TURNS);
}

async function cpuSeconds(redis: Redis): Promise<number> {
  const info = await redis.info('cpu');
  const field = (name: string) => Number(new RegExp(`${name}:([0-9.]+)`).exec(info)?.[1]);
  return field('used_cpu_user') + field('used_cpu_sys');
}

/** A backend that tells what turns tell, and neither keeps what another pod would need nor gives signs of life. */
function forgetful({ runs: kept }: Backend): Partial<Backend> {
  return {
    heartbeats: {
      beat: async () => undefined,
      lapsed: async () => [],
      forget: async () => undefined,
      alive: async () => true,
    },
    runs: { ...kept, write: gathering(kept) },
  };
}

/** Writes that a checkpoint alone would cause are not made: what they tell goes out with the next, or soon. */
function gathering(kept: Pick<Runs, 'write'>): Runs['write'] {
  const waiting = new Map<string, { events: TurnEvent[]; timer: NodeJS.Timeout }>();
  return async (run, { notes: _notes, ...write }): Promise<WriteResult> => {
    const held = waiting.get(run.streamRequestId);
    clearTimeout(held?.timer);
    waiting.delete(run.streamRequestId);
    const earlier = held?.events ?? [];
    const whole: RunWrite = {
      ...write,
      firstSeq: write.firstSeq - earlier.length,
      events: [...earlier, ...write.events],
    };
    if (_notes === undefined || _notes.length === 0 || write.end !== undefined) {
      return whole.events.length === 0 && write.end === undefined ? 'written' : kept.write(run, whole);
    }
    const timer = setTimeout(() => {
      waiting.delete(run.streamRequestId);
      void kept.write(run, whole);
    }, COALESCE_MS);
    waiting.set(run.streamRequestId, { events: [...whole.events], timer });
    return 'written';
  };
}
