import { setTimeout as sleep } from 'node:timers/promises';
import { COALESCE_MS } from '@parley/shared/runs/text-publisher';
import { Redis } from 'ioredis';
import { followTurn } from '../../services/api/src/turns/follow.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, median, microseconds, ratiosOf } from '../measurement.ts';
import { openBenchEngine } from '../pod/engine.ts';
import { answer, beginTurn, openTurnPod, type TurnPod } from '../pod/turn-pod.ts';
import { inSlots } from '../slots.ts';

const ROUNDS = 5;
const TURNS = 2;
const WHOLE_TURNS = 60;
const CHANNEL = 'bench:words';
// The least that a word of a turn is: a publish that compares the fencing token of its run.
const FENCED = `if redis.call('HGET', KEYS[1], 'fence') == ARGV[1] then return redis.call('PUBLISH', KEYS[2], ARGV[2]) end`;
// Longer than text waits for more text: every word goes out at once.
const WORD_MS = COALESCE_MS + 15;

/** How long a word takes from the model to a reader on another backend, and a whole turn with a question. */
export async function streaming({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const pod = await openTurnPod(redisUrl, { wordMs: WORD_MS, word: () => `${microseconds()} ` });
  const reader = await openBenchEngine(redisUrl);
  const rounds = scaled(ROUNDS, 1);
  const floor: number[] = [];
  const fencedFloor: number[] = [];
  const words: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const published: Published = { plain: [], fenced: [] };
    const took: number[] = [];
    for (let turn = 0; turn < scaled(TURNS, 1); turn += 1) {
      const turnEnded = new AbortController();
      const publishing = publishUntil(redisUrl, turnEnded.signal);
      took.push(...(await readWords(pod, reader.engine, `words-${round}-${turn}`)));
      turnEnded.abort();
      const { plain, fenced } = await publishing;
      published.plain.push(...plain);
      published.fenced.push(...fenced);
    }
    progress(
      `streaming ${round}/${rounds}: publish ${Math.round(median(published.plain))} us, fenced ${Math.round(median(published.fenced))} us, a word ${Math.round(median(took))} us`,
    );
    if (round === 0) continue;
    floor.push(median(published.plain));
    fencedFloor.push(median(published.fenced));
    words.push(median(took));
  }
  await Promise.all([pod.close(), reader.backend.close()]);
  return [
    {
      what: 'a word from model to reader, over publish at the same pace',
      measured: `p50 ${Math.round(median(words))} us over ${Math.round(median(floor))} us`,
      ratios: ratiosOf(words, floor),
      aim: { atMost: 1.8 },
    },
    {
      what: 'its floor: a publish that compares a fencing token, over publish at the same pace',
      measured: `p50 ${Math.round(median(fencedFloor))} us`,
      ratios: ratiosOf(fencedFloor, floor),
    },
    await wholeTurns(redisUrl, scaled(WHOLE_TURNS, 4)),
  ];
}

/** Microseconds from the call to the message: of a plain publish, and of one that compares a fencing token first. */
interface Published {
  readonly plain: number[];
  readonly fenced: number[];
}

/**
 * Publishes in turn plainly and fenced, at the pace of the words and between them: a process that was idle for 40 ms takes
 * several times as long as one that is busy.
 */
async function publishUntil(redisUrl: string, signal: AbortSignal): Promise<Published> {
  const [redis, subscriber] = [new Redis(redisUrl), new Redis(redisUrl)];
  await subscriber.subscribe(CHANNEL);
  await redis.hset('bench:run', 'fence', '1');
  redis.defineCommand('benchFenced', { numberOfKeys: 2, lua: FENCED });
  const { benchFenced } = redis as unknown as { benchFenced: (...args: string[]) => Promise<number> };
  const publish = {
    plain: () => redis.publish(CHANNEL, String(microseconds())),
    fenced: () => benchFenced.call(redis, 'bench:run', CHANNEL, '1', String(microseconds())),
  };
  const took: Published = { plain: [], fenced: [] };
  await sleep(WORD_MS / 2);
  for (let count = 0; !signal.aborted; count += 1) {
    const kind = count % 2 === 0 ? 'plain' : 'fenced';
    const arrived = new Promise<number>((resolve) => {
      subscriber.once('message', (_channel, sentAt: string) => resolve(microseconds() - Number(sentAt)));
    });
    await publish[kind]();
    took[kind].push(await arrived);
    await sleep(WORD_MS);
  }
  await Promise.all([redis.quit(), subscriber.quit()]);
  return took;
}

/** Follows one turn on another backend. Each word is the time at which the model wrote it. */
async function readWords(
  pod: TurnPod,
  engine: Parameters<typeof followTurn>[0]['engine'],
  name: string,
): Promise<number[]> {
  const run = await beginTurn(pod, 0, name);
  const stop = new AbortController();
  const events = await followTurn({ engine, turns: pod.turns }, run, { signal: stop.signal });
  void pod.questionOf(run).then((question) => answer(pod, run, question));
  const took: number[] = [];
  for await (const followed of events) {
    if (followed.type !== 'turn') continue;
    const { event } = followed;
    if (event.type === 'turn-finished') break;
    if (event.type !== 'text-delta') continue;
    const writtenAt = Number(event.text.trim().split(' ')[0]);
    took.push(microseconds() - writtenAt);
  }
  stop.abort();
  await pod.finished(run);
  return took;
}

async function wholeTurns(redisUrl: string, count: number): Promise<Measurement> {
  const pod = await openTurnPod(redisUrl, { wordMs: 0 });
  const took: number[] = [];
  await inSlots(count, 1, async (index) => {
    const startedAt = performance.now();
    const run = await beginTurn(pod, index, 'whole');
    await answer(pod, run, await pod.questionOf(run));
    await pod.finished(run);
    took.push(performance.now() - startedAt);
  });
  await pod.close();
  return {
    what: 'one whole turn with a question that is answered at once',
    measured: `p50 ${median(took).toFixed(1)} ms`,
  };
}
