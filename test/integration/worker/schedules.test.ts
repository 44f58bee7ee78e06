import { MAINTENANCE_JOBS } from '@parley/shared/ports/jobs';
import { canaryKey } from '@parley/shared/redis/client/keys';
import { type SchedulesOptions, schedule } from '@parley/shared/redis/jobs/schedules';
import { MAINTENANCE_QUEUE } from '@parley/shared/redis/jobs/timers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import {
  lookInto,
  nextBeat,
  question,
  single,
  startTestPod,
  startTestWorker,
  type TestPod,
} from '../../harness/worker/setup.ts';

const EVERY_MS = {
  sweep: 200,
  outbox: 600_000,
  'take-over': 200,
  'index-check': 400,
  cleanup: 400,
  canary: 100,
};
/** Never within a test: what comes back then does so for another reason. */
const NEVER_MS = 600_000;

let redis: RedisServer;
let pod: TestPod;
let faults: unknown[];
let held: (() => unknown)[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  await redisCommand(redis.port, 'FLUSHALL');
  faults = [];
  pod = await startTestPod({ location: single(redis.url) });
  held.push(() => pod.close());
});
afterEach(async () => {
  for (const close of held.reverse()) await close();
  held = [];
});

async function openWorker(): Promise<void> {
  const opened = await startTestWorker(pod, single(redis.url));
  held.push(() => opened.close());
}

async function keep(more: Partial<SchedulesOptions> = {}): Promise<void> {
  const kept = schedule({
    location: single(redis.url),
    everyMs: EVERY_MS,
    onError: (error) => faults.push(error),
    renewEveryMs: NEVER_MS,
    ...more,
  });
  held.push(() => kept.close());
  await kept.ready();
}

async function openQueue() {
  const { queue, close } = await lookInto(single(redis.url), MAINTENANCE_QUEUE);
  held.push(close);
  return queue;
}

const beat = () => nextBeat(pod, redis.port);

it('schedules every kind of maintenance round once, from several workers at once', async () => {
  const queue = await openQueue();
  await Promise.all([openWorker(), openWorker()]);
  await Promise.all([keep({ renewEveryMs: 20 }), keep({ renewEveryMs: 20 }), keep({ renewEveryMs: 20 })]);
  const asked = await question(pod, { timeoutSeconds: 1 });
  await waitUntil(async () => (await asked.status()) === 'expired', { what: 'the sweep' });
  await beat();
  const known = await queue.getJobSchedulers();
  expect(known.map(({ key }) => key).sort()).toEqual([...MAINTENANCE_JOBS].sort());
  // One of each is coming, however often and by how many the schedules are renewed.
  const coming = await queue.getJobCountByTypes('delayed', 'waiting');
  expect(coming).toBeLessThanOrEqual(MAINTENANCE_JOBS.length);
  expect(await asked.endings()).toBe(1);
  expect(faults).toEqual([]);
});

it('reports the age of the last heartbeat by the Redis clock', async () => {
  expect((await pod.backend.health()).timerCanaryAgeMs).toBeUndefined();
  await openWorker();
  await keep();
  await beat();
  // Outlives a worker by far, so that its death shows as an age and not as silence.
  expect(Number(await redisCommand(redis.port, 'PTTL', canaryKey()))).toBeGreaterThan(3_600_000);
});

it('is restored after Redis lost all data', async () => {
  await openWorker();
  await keep({ renewEveryMs: 100 });
  await beat();
  await redisCommand(redis.port, 'FLUSHALL');
  await beat();
});

it('is restored as soon as the worker is connected again', async () => {
  await openWorker();
  await keep();
  await beat();
  await redisCommand(redis.port, 'FLUSHALL');
  await redisCommand(redis.port, 'CLIENT', 'KILL', 'TYPE', 'normal');
  await beat();
});

it('restores a round that a clock ahead has put far in the future', async () => {
  const queue = await openQueue();
  const startDate = Date.now() + 3_600_000;
  await queue.upsertJobScheduler('canary', { every: EVERY_MS.canary, startDate }, { name: 'canary' });
  await openWorker();
  await keep();
  await beat();
});

it('replaces an old interval with a new one', async () => {
  const queue = await openQueue();
  await keep({ everyMs: { ...EVERY_MS, cleanup: 7_000 } });
  await keep({ everyMs: { ...EVERY_MS, cleanup: 9_000 } });
  expect((await queue.getJobScheduler('cleanup'))?.every).toBe(9_000);
});
