import { isParleyError } from '@parley/core/domain/errors';
import { bucketOf } from '@parley/core/domain/ids';
import { Redis } from 'ioredis';
import { COSTS } from '../../clients/cli/src/capacity/model.ts';
import { startCluster } from '../../test/harness/redis/cluster.ts';
import { untilReplicated } from '../../test/harness/redis/redis-command.ts';
import type { Bench } from '../bench.ts';
import { type Measurement, median, quantile } from '../measurement.ts';
import { openBenchEngine, QUESTION, TENANT } from '../pod/engine.ts';
import { redisCpu, usedMemory } from '../redis-usage.ts';
import { inSlots } from '../slots.ts';
import { throughDeaths } from './deaths.ts';

const PENDING = 1_000_000;
const PEOPLE = 50_000;
const LARGE_TENANT = 100_000;
const CLUSTER_PENDING = 200_000;
const SLOTS = 64;
const SAMPLES = 2_000;
const WITHIN = 1.2;
/** Among the open questions, of an asker that dies. */
const DEADLINES = 10_000;
const DUE_IN_SECONDS = 30;

type Opened = Awaited<ReturnType<typeof openBenchEngine>>;

/** Measures many open questions on one server and on a Cluster, and compares the capacity model. */
export async function scale(bench: Bench): Promise<Measurement[]> {
  return [...(await onOneServer(bench)), ...(await onCluster(bench))];
}

/** Asks questions of many people. Returns their ids with their owners. */
async function askMany({ engine }: Opened, count: number, people: number, tenant: string = TENANT) {
  const asked: Asked[] = [];
  await inSlots(count, SLOTS, async (index) => {
    const userId = `person-${index % people}`;
    const input = { ...QUESTION, timeoutSeconds: 86_400, userId } as never;
    const { row } = await engine.ask({ tenant, input });
    asked.push({ id: row.id, userId });
  });
  return asked;
}

interface Asked {
  readonly id: string;
  readonly userId: string;
}

async function answer({ engine }: Opened, { id, userId }: Asked) {
  return engine.answer({
    caller: { kind: 'user', tenant: TENANT, userId },
    id,
    response: { action: 'accept', content: { environment: 'staging', at: 1 } },
    surface: 'bench',
  });
}

/** Repeats an answer until its commit is known, as a client does after a failed call. */
async function untilAnswered(opened: Opened, asked: Asked): Promise<void> {
  for (;;) {
    const seen = await answer(opened, asked).catch((error: unknown) => error);
    if (!isParleyError(seen, 'unavailable')) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function onOneServer({ redisUrl, scaled, progress }: Bench): Promise<Measurement[]> {
  const redis = new Redis(redisUrl);
  const opened = await openBenchEngine(redisUrl);
  const count = scaled(PENDING, 200);
  const people = scaled(PEOPLE, 20);
  const empty = await usedMemory(redis);
  const asked = await askMany(opened, count, people);
  const openBytes = ((await usedMemory(redis)) - empty) / count;
  progress(`scale: ${count} open questions of ${people} people`);
  const samples = Math.min(SAMPLES, count);
  const sample = asked.slice(0, samples);
  const cpuUs = await redisCpu(redis, samples, async () => {
    const more = await askMany(opened, samples, people);
    for (const each of more) await answer(opened, each);
  });
  const before = await usedMemory(redis);
  for (const each of sample) await answer(opened, each);
  const endedBytes = openBytes + ((await usedMemory(redis)) - before) / samples;
  const ended = await throughDeaths(
    opened.engine,
    { redisUrl, progress },
    {
      count: scaled(DEADLINES, 6),
      dueInSeconds: scaled(DUE_IN_SECONDS, 2),
      overSeconds: scaled(DUE_IN_SECONDS, 2),
    },
  );
  const small = await neighbours(opened, scaled(LARGE_TENANT, 100));
  await opened.backend.close();
  redis.disconnect();
  const what = `${count.toLocaleString('en')} open questions`;
  return [
    ...beside(`${what}: bytes of Redis each`, openBytes, COSTS.openBytes, 'bytes'),
    ...beside('one that has ended: bytes of Redis', endedBytes, COSTS.endedBytes, 'bytes'),
    { what: `${what}: CPU of Redis for a further ask and answer`, measured: `${cpuUs.toFixed(0)} us` },
    { ...ended, what: `among them, ${ended.what}` },
    small,
  ];
}

/** Whether the measured figure agrees with the model, above or below. */
function beside(what: string, measured: number, modelled: number, unit: string): Measurement[] {
  const ratio = Math.max(measured / modelled, modelled / measured);
  return [
    {
      what,
      measured: `${Math.round(measured)} ${unit}, ${Math.round(modelled)} by the model`,
      ratios: [ratio],
      aim: { atMost: WITHIN },
    },
  ];
}

/** How long a list of a small tenant takes beside a large one. */
async function neighbours(opened: Opened, large: number): Promise<Measurement> {
  await askMany(opened, 20, 20, 'small');
  const askMs = async () => {
    const times: number[] = [];
    for (let round = 0; round < 100; round += 1) {
      const from = performance.now();
      await askMany(opened, 1, 1, 'small');
      times.push(performance.now() - from);
    }
    return median(times);
  };
  const alone = await askMs();
  await askMany(opened, large, Math.ceil(large / 20), 'large');
  const among = await askMs();
  return {
    what: `an ask of a small tenant beside one with ${large.toLocaleString('en')} open, over alone (p50)`,
    measured: `${among.toFixed(2)} ms over ${alone.toFixed(2)} ms`,
    ratios: [among / alone],
    aim: { atMost: WITHIN },
  };
}

/** A Cluster of six nodes: how even its buckets are, and that its questions are answered after a master was killed. */
async function onCluster({ scaled, progress }: Bench): Promise<Measurement[]> {
  const cluster = await startCluster({ masters: 3, replicas: 1 });
  try {
    const opened = await openBenchEngine({ kind: 'cluster', nodes: cluster.nodes });
    const count = scaled(CLUSTER_PENDING, 120);
    const asked = await askMany(opened, count, scaled(PEOPLE, 60));
    progress(`scale: ${count} open questions on a Cluster`);
    const loads = new Map<number, number>();
    for (const { userId } of asked) {
      const bucket = bucketOf({ tenant: TENANT, userId });
      loads.set(bucket, (loads.get(bucket) ?? 0) + 1);
    }
    const fullest = Math.max(...loads.values()) / (count / 64);
    // What a replica did not have is lost with its master, and judges nothing here.
    await untilReplicated(await cluster.masterOf(0));
    await cluster.killMasterOf(0);
    const killedAt = performance.now();
    const waits: number[] = [];
    await inSlots(Math.min(300, count), 8, async (index) => {
      const each = asked[index];
      if (each === undefined) return;
      const from = performance.now();
      await untilAnswered(opened, each);
      waits.push(performance.now() - from);
    });
    const tookMs = performance.now() - killedAt;
    const service = { kind: 'service', tenant: TENANT } as const;
    let unsettled = 0;
    for (const { id } of asked.slice(0, waits.length))
      if ((await opened.engine.read(service, id)).row.status !== 'accepted') unsettled += 1;
    await opened.backend.close();
    return [
      {
        what: `${count.toLocaleString('en')} on a Cluster of six nodes: the bucket with the most load over the mean`,
        measured: `${fullest.toFixed(2)} times`,
      },
      {
        what: 'answers after the death of a master: not settled',
        measured: `${unsettled} of ${waits.length}; all within ${(tookMs / 1000).toFixed(1)} s, p99 ${quantile(waits, 0.99).toFixed(0)} ms`,
        ratios: [unsettled],
        aim: { atMost: 0 },
      },
    ];
  } finally {
    await cluster.stop();
  }
}
