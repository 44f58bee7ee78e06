import { mintElicitationId } from '@parley/shared/domain/ids';
import { connectProducer } from '@parley/shared/redis/client/connect';
import { createQueueTimers, type QueueTimers, timerPrefix } from '@parley/shared/redis/jobs/timers';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { answerQuestion, newOwner } from '../../contract/support/questions.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import {
  allExpire,
  lookInto,
  question,
  single,
  startTestPod,
  startTestWorker,
  type TestPod,
  type TestPodOptions,
  type TestWorkerOptions,
} from './setup.ts';

let redis: RedisServer;
/** Looks on; nothing fires by it. */
let pod: TestPod;
let held: (() => unknown)[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  await redisCommand(redis.port, 'FLUSHALL');
  pod = await openPod();
});
afterEach(async () => {
  for (const close of held.reverse()) await close();
  held = [];
});

async function openPod(more: Partial<TestPodOptions> = {}): Promise<TestPod> {
  const opened = await startTestPod({ location: single(redis.url), ...more });
  held.push(() => opened.close());
  return opened;
}

async function openWorker(more: TestWorkerOptions = {}) {
  const opened = await startTestWorker(pod, single(redis.url), more);
  held.push(() => opened.close());
  return opened;
}

async function openQueueLook() {
  const opened = await lookInto(single(redis.url));
  held.push(() => opened.close());
  return opened;
}

async function openTimers(): Promise<QueueTimers> {
  const connection = connectProducer(single(redis.url));
  held.push(() => connection.disconnect());
  await waitUntil(() => connection.status === 'ready', { what: 'the timers to connect' });
  return createQueueTimers(connection, 1);
}

it('fires the deadline of a pod that is gone', async () => {
  const asker = await openPod({ timers: 'queue' });
  const { queue } = await openQueueLook();
  const asked = await question(asker, { timeoutSeconds: 1 }, pod);
  await waitUntil(() => queue.getJob(asked.id), { what: 'the job' });
  await asker.close();
  const { faults } = await openWorker();
  await allExpire([asked]);
  await waitUntil(async () => (await queue.getJob(asked.id)) === undefined, { what: 'the job to be done' });
  expect(faults).toEqual([]);
});

it('arms a job again that ran too early, and expires the question once due', async () => {
  const timers = await openTimers();
  const { queue } = await openQueueLook();
  const { faults } = await openWorker();
  const asked = await question(pod, { timeoutSeconds: 3 });
  await timers.schedule(asked.id, 0);
  const armed = await waitUntil(
    async () => {
      const job = await queue.getJob(asked.id);
      return job !== undefined && job.attemptsStarted === 1 && (await job.isDelayed()) && job;
    },
    { what: 'the job to be armed again' },
  );
  expect(await asked.status()).toBe('pending');
  // Not an attempt that failed: those are numbered.
  expect(armed.attemptsMade).toBe(0);
  await allExpire([asked]);
  await waitUntil(async () => (await queue.getJob(asked.id)) === undefined, { what: 'the job to be done' });
  expect(faults).toEqual([]);
});

it('completes a job whose question has ended or is gone', async () => {
  const timers = await openTimers();
  const { queue } = await openQueueLook();
  const owner = newOwner();
  const asked = await question(pod);
  await answerQuestion(pod.engine, asked.owner, asked.id, 'decline');
  const ghost = mintElicitationId(owner);
  await timers.schedule(asked.id, 1);
  await timers.schedule(ghost, 1);
  const { faults } = await openWorker();
  await waitUntil(async () => (await queue.getJobCountByTypes()) === 0, { what: 'both jobs to be done' });
  expect(faults).toEqual([]);
  expect(await asked.status()).toBe('declined');
  expect(await asked.endings()).toBe(1);
});

it('keeps a job with an unknown name for a worker that knows it, and continues', async () => {
  const { queue } = await openQueueLook();
  const older = await openWorker({ unknownRetryMs: 300 });
  await queue.add('of-a-newer-build', {}, { jobId: 'newer', attempts: 1 });
  await waitUntil(() => older.faults.some((fault) => String(fault).includes('of-a-newer-build')), {
    what: 'the worker to find it',
  });
  const asker = await openPod({ timers: 'queue' });
  await allExpire([await question(asker, { timeoutSeconds: 1 })]);
  expect(await (await queue.getJob('newer'))?.isFailed()).toBe(false);
  await older.close();
  const ran: string[] = [];
  const run = async ({ id }: { readonly id: string }) => {
    ran.push(id);
    return undefined;
  };
  await openWorker({ processors: { 'of-a-newer-build': run } as never });
  await waitUntil(() => ran.includes('newer'), { what: 'the worker that knows it' });
});

it('drops overdue rounds of a schedule that it does not know, which would pile up', async () => {
  const { queue } = await openQueueLook();
  const older = await openWorker({ unknownRetryMs: 300 });
  await queue.upsertJobScheduler('of-a-newer-build', { every: 500 }, { name: 'of-a-newer-build' });
  await waitUntil(() => older.faults.length > 8, { what: 'several rounds' });
  const counts = await queue.getJobCounts();
  expect((counts.delayed ?? 0) + (counts.waiting ?? 0)).toBeLessThan(6);
  expect(counts.failed).toBe(0);
});

it('a lost or abandoned job is replaced by the sweep', async () => {
  const timers = await openTimers();
  const { queue } = await openQueueLook();
  const lost = await question(pod, { timeoutSeconds: 1 });
  await timers.schedule(lost.id, 1_000);
  await timers.cancel(lost.id);
  const givenUp = await question(pod, { timeoutSeconds: 1 });
  await timers.schedule(givenUp.id, 1_000);
  // As BullMQ marks a job that took too many workers with it.
  await redisCommand(
    redis.port,
    'HSET',
    `${timerPrefix(0)}:expiry:${givenUp.id}`,
    'defa',
    'stalled too often',
  );
  await openWorker();
  await waitUntil(async () => (await queue.getJob(givenUp.id))?.failedReason, {
    what: 'the job to be given up',
  });
  expect(await lost.status()).toBe('pending');
  expect(await givenUp.status()).toBe('pending');
  const maintenance = await lookInto(single(redis.url), 'maintenance');
  held.push(() => maintenance.close());
  await waitUntil(
    async () => {
      await maintenance.queue.add('sweep', {}, {});
      return (await lost.status()) === 'expired' && (await givenUp.status()) === 'expired';
    },
    { what: 'the sweep', everyMs: 200 },
  );
  await allExpire([lost, givenUp]);
});

it('fires fifty deadlines over several queues, each once', async () => {
  const timerQueues = 3;
  const asker = await openPod({ timers: 'queue', timerQueues });
  const workers = [await openWorker({ timerQueues }), await openWorker({ timerQueues })];
  const asked = await Promise.all(Array.from({ length: 50 }, () => question(asker, { timeoutSeconds: 1 })));
  await allExpire(asked);
  expect(workers.flatMap(({ faults }) => faults)).toEqual([]);
});

it('fires deadlines of pods with more timer queues than it has, also of queues that come later', async () => {
  const worker = await openWorker({ timerQueues: 1, searchEveryMs: 200 });
  const asker = await openPod({ timers: 'queue', timerQueues: 4 });
  const asked = await Promise.all(Array.from({ length: 20 }, () => question(asker, { timeoutSeconds: 1 })));
  await allExpire(asked);
  expect(worker.faults).toEqual([]);
});

it('closes while Redis is away', async () => {
  const alone = await startRedis();
  const lonely = await startTestPod({ location: single(alone.url) });
  const { close } = await startTestWorker(lonely, single(alone.url));
  await alone.kill9();
  await close();
  await lonely.close();
  await alone.stop();
});
