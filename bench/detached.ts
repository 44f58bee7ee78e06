import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RunRef } from '@parley/shared/domain/runs/run';
import { Redis } from 'ioredis';
import { type Finding, quantile } from './stats.ts';
import { answer, conversationOf, inLanes, openTurnPod, type TurnPod } from './turn-pod.ts';

const DETACHED = 10_000;
const FEW = 100;
const LANES = 12;
const WAKES = 60;

interface Waiting {
  readonly run: RunRef;
  readonly question: string;
}

/** What ten thousand detached turns take in Redis and in a pod, and what waking one of them costs. */
export async function detached(redisUrl: string, progress: (text: string) => void): Promise<Finding[]> {
  const redis = new Redis(redisUrl);
  const pod = await openTurnPod(redisUrl, { wordMs: 0 });
  const few = await fill(pod, FEW, 'few');
  const wokenOfFew = await wakes(redis, pod, few);
  const before = { redis: await usedMemory(redis), heap: heapUsed() };
  const many = await fill(pod, DETACHED, 'many', (count) => progress(`detached: ${count} of ${DETACHED}`));
  const after = { redis: await usedMemory(redis), heap: heapUsed() };
  const kinds = await bytesByKind(redis, DETACHED + FEW - WAKES);
  progress(`detached, bytes each by key: ${kinds}`);
  const wokenOfMany = await wakes(redis, pod, many);
  progress(`detached, commands of a wake and the turn's end: ${wokenOfMany.commands}`);
  await pod.close();
  await redis.quit();
  return [
    {
      what: `Redis bytes of one of ${DETACHED.toLocaleString('en')} detached turns, question and all`,
      measured: `${Math.round((after.redis - before.redis) / DETACHED)} bytes`,
    },
    {
      what: 'bytes of it in the pod that asked: heap, the local timer of its question',
      measured: `${Math.round((after.heap - before.heap) / DETACHED)} bytes`,
    },
    {
      what: 'answer to end of turn, among 10,000 over among 100 (p50)',
      measured: `${ms(wokenOfMany.took)} over ${ms(wokenOfFew.took)}`,
      ratio: wokenOfMany.took / wokenOfFew.took,
      aim: { atMost: 1.5 },
    },
    {
      what: 'commands for that, among 10,000 over among 100',
      measured: `${wokenOfMany.each.toFixed(1)} over ${wokenOfFew.each.toFixed(1)}`,
      ratio: wokenOfMany.each / wokenOfFew.each,
      aim: { atMost: 1.1 },
    },
    {
      what: 'commands among them that look through keys or indexes',
      measured: String(wokenOfMany.scans),
      ratio: wokenOfMany.scans,
      aim: { atMost: 0 },
    },
  ];
}

/** Turns that ask, and wait with no pod. */
async function fill(
  pod: TurnPod,
  count: number,
  name: string,
  onProgress: (count: number) => void = () => undefined,
): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  let told = 0;
  await inLanes(count, LANES, async (index) => {
    const run = await pod.turns.begin({
      conversation: conversationOf(index, name),
      input: [{ role: 'user', content: 'Release it.' }],
      before: [],
      support: { form: true, url: true },
      delivery: 'detach',
    });
    const question = await pod.asked(run);
    await pod.left(run);
    told += 1;
    // What the bench keeps itself is not to be measured.
    if (waiting.length < WAKES) waiting.push({ run, question });
    if (told % 2_000 === 0) onProgress(told);
  });
  return waiting;
}

/** Answers them one after the other; how long until each has ended, and the commands that this took. */
async function wakes(redis: Redis, pod: TurnPod, waiting: readonly Waiting[]) {
  const took: number[] = [];
  await redis.config('RESETSTAT');
  for (const { run, question } of waiting) {
    const startedAt = performance.now();
    await answer(pod, run, question);
    await pod.left(run);
    took.push(performance.now() - startedAt);
  }
  const calls = await callsByCommand(redis);
  const sum = (names: (name: string) => boolean) =>
    [...calls].filter(([name]) => names(name)).reduce((total, [, count]) => total + count, 0);
  return {
    took: quantile(took, 0.5),
    each: sum((name) => !BESIDE.test(name)) / waiting.length,
    scans: sum((name) => SCANS.test(name)),
    commands: [...calls].map(([name, count]) => `${name} ${(count / waiting.length).toFixed(1)}`).join(', '),
  };
}

const SCANS = /^(keys|scan|hscan|sscan|zscan)$/;
// What a pod and its worker do all the time, and what the bench does.
const BESIDE = /^(ping|info|config.*|bzpopmin|publish)$/;

async function callsByCommand(redis: Redis): Promise<Map<string, number>> {
  const stats = await redis.info('commandstats');
  return new Map(
    [...stats.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)].map(([, name, calls]) => [name ?? '', Number(calls)]),
  );
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}

async function bytesByKind(redis: Redis, turns: number): Promise<string> {
  const sums = new Map<string, number>();
  for await (const keys of redis.scanStream({ match: 'parley:*', count: 1_000 })) {
    const sizes = await Promise.all(
      (keys as string[]).map((key) => redis.memory('USAGE', key, 'SAMPLES', 0)),
    );
    (keys as string[]).forEach((key, index) => {
      const kind = key.startsWith('parley:{timers')
        ? 'timers'
        : (/^parley:\{[^}]+\}:([\w-]+)/.exec(key)?.[1] ?? 'other');
      sums.set(kind, (sums.get(kind) ?? 0) + (sizes[index] ?? 0));
    });
  }
  return [...sums]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, bytes]) => `${kind} ${Math.round(bytes / turns)}`)
    .join(', ');
}

function heapUsed(): number {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round += 1) collect();
  return process.memoryUsage().heapUsed;
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`;
}
