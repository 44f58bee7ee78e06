import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RunRef } from '@parley/shared/domain/runs/run';
import { createClientRequests } from '@parley/shared/elicitations/asking/client-requests';
import { Redis } from 'ioredis';
import { showsOf } from '../../services/api/src/surfaces/mcp/capabilities.ts';
import { readTask } from '../../services/api/src/surfaces/mcp/tasks/task.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, microseconds, quantile } from '../measurement.ts';
import { answer, beginTurn, openTurnPod, type TurnPod } from '../pod/turn-pod.ts';
import { bytesByKind, commandUse, formatBytes, usedMemory } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';

const MANY = 10_000;
const FEW = 100;
const RESUMED = 60;
const POLLS = 600;
// By this beginning of a conversation's name the turn is the call of an MCP client.
const [AMONG_FEW, AMONG_MANY] = ['conv_mcp-few', 'conv_mcp-many'];
const SLOTS = 48;
const LINGER_MS = 5_000;

interface Waiting {
  readonly run: RunRef;
  readonly question: string;
}

/** What ten thousand detached turns take in Redis and in a pod, and what resuming or polling one of them costs. */
export async function detached({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const redis = new Redis(redisUrl);
  const pod = await openTurnPod(redisUrl, { wordMs: 0 });
  const [few, many, resumed] = [scaled(FEW, 5), scaled(MANY, 10), scaled(RESUMED, 5)];
  const polls = scaled(POLLS, 5);
  const fewWaiting = await fill(pod, { count: few, kept: resumed, name: AMONG_FEW });
  const polledAmongFew = await poll(redis, pod, fewWaiting, polls);
  const ofFew = await resume(redis, pod, fewWaiting);
  const before = { redis: await usedMemory(redis), heap: heapUsed() };
  const waiting = await fill(pod, { count: many, kept: resumed, name: AMONG_MANY }, (count) =>
    progress(`detached: ${count} of ${many}`),
  );
  // A pod keeps the subscriptions of what has ended for some seconds.
  await sleep(scaled(LINGER_MS, 0));
  const after = { redis: await usedMemory(redis), heap: heapUsed() };
  const kinds = formatBytes(await bytesByKind(redis), many + few - resumed);
  progress(`detached, bytes each by key: ${kinds}`);
  const polledAmongMany = await poll(redis, pod, waiting, polls);
  const ofMany = await resume(redis, pod, waiting);
  progress(`detached, commands of a resume and the turn's end: ${ofMany.commands}`);
  await pod.close();
  await redis.quit();
  const counts = `among ${many.toLocaleString('en')} over among ${few.toLocaleString('en')}`;
  return [
    {
      what: `Redis bytes of one of ${many.toLocaleString('en')} detached turns, question and all`,
      measured: `${Math.round((after.redis - before.redis) / many)} bytes`,
    },
    {
      what: 'its bytes in the pod that asked: heap, known row and local timer of its question',
      measured: `${Math.round((after.heap - before.heap) / many)} bytes`,
    },
    {
      what: `answer to end of turn, ${counts} (p50)`,
      measured: `${formatMs(ofMany.took)} over ${formatMs(ofFew.took)}`,
      ratios: [ofMany.took / ofFew.took],
      aim: { atMost: 1.5 },
    },
    {
      what: `commands for that, ${counts}`,
      measured: `${ofMany.each.toFixed(1)} over ${ofFew.each.toFixed(1)}`,
      ratios: [ofMany.each / ofFew.each],
      aim: { atMost: 1.1 },
    },
    {
      what: 'commands among them that walk through keys or indexes',
      measured: String(ofMany.scans),
      ratios: [ofMany.scans],
      aim: { atMost: 0 },
    },
    {
      what: `tasks/get of a call that waits, ${counts} (p50)`,
      measured: `${polledAmongMany.took} us over ${polledAmongFew.took} us`,
      ratios: [polledAmongMany.took / polledAmongFew.took],
      aim: { atMost: 1.5 },
    },
    {
      what: `commands for that, scripts and what they call, ${counts}`,
      measured: `${polledAmongMany.each.toFixed(1)} over ${polledAmongFew.each.toFixed(1)}`,
      ratios: [polledAmongMany.each / polledAmongFew.each],
      aim: { atMost: 1.1 },
    },
  ];
}

/** Starts turns that ask and then wait on no pod; returns the first `kept` of them. */
async function fill(
  pod: TurnPod,
  { count, kept, name }: { readonly count: number; readonly kept: number; readonly name: string },
  onProgress: (count: number) => void = () => undefined,
): Promise<Waiting[]> {
  const waiting: Waiting[] = [];
  let filled = 0;
  await inSlots(count, SLOTS, async (index) => {
    const run = await beginTurn(pod, index, name, 'detach');
    const question = await pod.questionOf(run);
    await pod.finished(run);
    filled += 1;
    // What the bench itself keeps would count as heap of the turns.
    if (waiting.length < kept) waiting.push({ run, question });
    if (filled % 2_000 === 0) onProgress(filled);
  });
  return waiting;
}

/** Answers one after the other: how long until each turn has ended, and the commands that this takes. */
async function resume(redis: Redis, pod: TurnPod, waiting: readonly Waiting[]) {
  const took: number[] = [];
  await redis.config('RESETSTAT');
  for (const { run, question } of waiting) {
    const startedAt = performance.now();
    await answer(pod, run, question);
    await pod.finished(run);
    took.push(performance.now() - startedAt);
  }
  const used = await commandUse(redis);
  return {
    took: quantile(took, 0.5),
    each: callsOf(used, (name) => !BESIDE.test(name)) / waiting.length,
    scans: callsOf(used, (name) => SCANS.test(name)),
    commands: [...used]
      .map(([name, { calls }]) => `${name} ${(calls / waiting.length).toFixed(1)}`)
      .join(', '),
  };
}

/** Reads waiting calls as tasks, one after the other: how long it takes, and the commands of each. */
async function poll(redis: Redis, pod: TurnPod, waiting: readonly Waiting[], polls: number) {
  const clientRequests = createClientRequests(pod.backend);
  const shows = showsOf({ elicitation: {} }, { isRecent: true });
  const took: number[] = [];
  // The first half warms the code up.
  for (let at = -polls; at < polls; at += 1) {
    if (at === 0) await redis.config('RESETSTAT');
    const startedAt = microseconds();
    const { run } = waiting[Math.abs(at) % waiting.length] as Waiting;
    const task = await readTask({ ...pod, clientRequests, callMs: 600_000 }, run, shows);
    if (task?.state.status !== 'input_required') throw new Error(`The task is ${task?.state.status}.`);
    if (at >= 0) took.push(microseconds() - startedAt);
  }
  const used = await commandUse(redis);
  return { took: quantile(took, 0.5), each: callsOf(used, (name) => !BESIDE.test(name)) / polls };
}

function callsOf(used: Awaited<ReturnType<typeof commandUse>>, counts: (name: string) => boolean): number {
  return [...used].filter(([name]) => counts(name)).reduce((total, [, { calls }]) => total + calls, 0);
}

const SCANS = /^(keys|scan|hscan|sscan|zscan)$/;
// What a pod sends regardless of turns, and what the bench itself sends.
const BESIDE = /^(ping|info|config.*|bzpopmin|publish)$/;

function heapUsed(): number {
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round += 1) collect();
  return process.memoryUsage().heapUsed;
}

function formatMs(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`;
}
