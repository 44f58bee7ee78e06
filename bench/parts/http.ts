import type { Engine } from '@parley/shared/elicitations/engine';
import { Redis } from 'ioredis';
import { type Pod, startPod } from '../../test/harness/processes/processes.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, median, microseconds, quantile, ratiosOf } from '../measurement.ts';
import { openBenchEngine, QUESTION, TENANT, userOf } from '../pod/engine.ts';
import {
  ANSWER,
  createHttpClient,
  HTTP_ENV,
  type HttpClient,
  SERVICE_TOKEN,
  USERS,
} from '../pod/http-client.ts';
import { processUsage } from '../process-usage.ts';
import { rawLifecycles } from '../processes/raw-scripts.ts';
import { startBare } from '../processes/start-bare.ts';
import { redisCpu } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';

const ROUNDS = 5;
const LOW = 200;
const FULL = { count: 1_500, underWay: 32 };
const LIFECYCLES = 1_500;
// A lifecycle should cost the pod no more.
const POD_SECONDS = 0.8e-3;

interface Question {
  readonly user: number;
  readonly id: string;
}

/** The answer call of a real pod beside a bare server that does the same token check, validation and script. */
export async function http({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const servers = await startServers(redisUrl);
  const { engine, backend } = await openBenchEngine(redisUrl);
  const client = await createHttpClient(FULL.underWay);
  const redis = new Redis(redisUrl);
  const p50 = { parley: [] as number[], reference: [] as number[] };
  const perSecond = { parley: [] as number[], reference: [] as number[] };
  const whole = { parley: [] as number[], raw: [] as number[], pod: [] as number[] };
  const rounds = scaled(ROUNDS, 1);
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of ['parley', 'reference'] as const) {
      const low = await oneByOne(client, servers[name], await ask(engine, scaled(LOW, 10)));
      const full = await atOnce(client, servers[name], await ask(engine, scaled(FULL.count, 20)));
      progress(`http ${round}/${rounds} ${name}: p50 ${low} us, ${Math.round(full)}/s`);
      if (round === 0) continue;
      p50[name].push(low);
      perSecond[name].push(full);
    }
    const count = scaled(LIFECYCLES, 20);
    const raw = await redisCpu(redis, count, () => rawLifecycles(redis, count));
    const life = await lifecycles(client, redis, servers.pod, count);
    progress(
      `http ${round}/${rounds} ask and answer: ${life.redis.toFixed(0)} us of Redis CPU, raw ${raw.toFixed(0)}`,
    );
    if (round === 0) continue;
    whole.raw.push(raw);
    whole.parley.push(life.redis);
    if (life.pod !== undefined) whole.pod.push(life.pod);
  }
  await Promise.all([servers.stop(), backend.close(), redis.quit()]);
  return [
    {
      what: 'Parley over HTTP: answer',
      measured: `p50 ${median(p50.parley)} us, ${Math.round(median(perSecond.parley))}/s`,
    },
    {
      what: 'bare node:http reference: answer',
      measured: `p50 ${median(p50.reference)} us, ${Math.round(median(perSecond.reference))}/s`,
    },
    {
      what: 'HTTP p50 over the reference',
      measured: 'ratio',
      ratios: ratiosOf(p50.parley, p50.reference),
      aim: { atMost: 1.2 },
    },
    {
      what: 'HTTP throughput over the reference',
      measured: 'ratio',
      ratios: ratiosOf(perSecond.parley, perSecond.reference),
      aim: { atLeast: 0.85 },
    },
    {
      what: 'Redis CPU of ask and answer over HTTP, over raw',
      measured: `${median(whole.parley).toFixed(0)} us over ${median(whole.raw).toFixed(0)} us`,
      ratios: ratiosOf(whole.parley, whole.raw),
      aim: { atMost: 4 },
    },
    ...(whole.pod.length === 0 ? [] : [podMeasurement(whole.pod)]),
  ];
}

function podMeasurement(seconds: readonly number[]): Measurement {
  return {
    what: 'CPU of the pod for ask and answer, over 0.8 ms',
    measured: `${(median(seconds) * 1_000).toFixed(2)} ms`,
    ratios: seconds.map((each) => each / POD_SECONDS),
    aim: { atMost: 1 },
  };
}

async function startServers(redisUrl: string) {
  const env = { ...HTTP_ENV, REDIS_URL: redisUrl };
  const pod = await startPod(env);
  const reference = await startBare('reference', redisUrl);
  return {
    pod,
    parley: pod.url,
    reference: reference.url,
    stop: () => Promise.all([pod.stop(), reference.stop()]),
  };
}

async function ask(engine: Engine, count: number): Promise<Question[]> {
  const questions: Question[] = [];
  await inSlots(count, 100, async (index) => {
    const userId = userOf(index % USERS);
    const { row } = await engine.ask({ tenant: TENANT, input: { ...QUESTION, userId } as never });
    questions.push({ user: index, id: row.id });
  });
  return questions;
}

function answer(client: HttpClient, url: string, { user, id }: Question): Promise<string> {
  return client.post(`${url}/v1/elicitations/${id}/response`, client.tokenOf(user), ANSWER);
}

async function oneByOne(client: HttpClient, url: string, questions: readonly Question[]): Promise<number> {
  const took: number[] = [];
  for (const question of questions) {
    const startedAt = microseconds();
    await answer(client, url, question);
    took.push(microseconds() - startedAt);
  }
  return quantile(took, 0.5);
}

async function atOnce(client: HttpClient, url: string, questions: readonly Question[]): Promise<number> {
  const startedAt = microseconds();
  await inSlots(questions.length, FULL.underWay, async (index) => {
    const question = questions[index];
    if (question !== undefined) await answer(client, url, question);
  });
  return (questions.length * 1e6) / (microseconds() - startedAt);
}

/** Asks and answers over HTTP: microseconds of Redis CPU each, and seconds of the pod's where they can be read. */
async function lifecycles(client: HttpClient, redis: Redis, pod: Pod, count: number) {
  const before = await processUsage(pod.pid);
  const each = await redisCpu(redis, count, () =>
    inSlots(count, FULL.underWay, async (index) => {
      const body = JSON.stringify({ ...QUESTION, userId: userOf(index % USERS) });
      const asked = JSON.parse(await client.post(`${pod.url}/v1/elicitations`, SERVICE_TOKEN, body));
      await answer(client, pod.url, { user: index, id: (asked as { elicitationId: string }).elicitationId });
    }),
  );
  const after = await processUsage(pod.pid);
  const used = before && after && after.cpuSeconds - before.cpuSeconds;
  return { redis: each, pod: used === undefined ? undefined : used / count };
}
