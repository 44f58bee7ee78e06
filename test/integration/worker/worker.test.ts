import { bucketOf, mintElicitationId } from '@parley/core/domain/ids';
import { BACKUP_DELAY_MS } from '@parley/shared/ports/elicitations/deadlines';
import { expiringKey } from '@parley/shared/redis/client/keys';
import { timerPrefix } from '@parley/shared/redis/jobs/timers';
import { beforeEach, expect, it, vi } from 'vitest';
import { answerQuestion, newOwner } from '../../harness/engines/questions.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { redisOfFile } from '../../harness/worker/redis-of-file.ts';
import { allExpire, jobIdOf, question, type TestPod } from '../../harness/worker/setup.ts';

const site = redisOfFile();
const { openPod } = site;
/** Looks on; nothing fires by it. */
let pod: TestPod;
beforeEach(async () => {
  pod = await openPod();
});
const openWorker = (more?: Parameters<typeof site.openWorker>[1]) => site.openWorker(pod, more);

it('delays a job again that came too early, and expires the question once due', async () => {
  const queue = await site.openQueue();
  const { faults } = await openWorker();
  const asked = await question(pod, { timeoutSeconds: 15 });
  const armed = {
    bucket: bucketOf(asked.owner),
    deadline: asked.expiresAt,
    elicitationId: asked.id,
    // A job is added at once when its time has passed by the clock of the process that adds it.
    delayMs: -BACKUP_DELAY_MS,
  };
  await waitUntil(() => pod.backend.deadlineJobs.add(armed).then(() => true), {
    what: 'the job to be added',
  });
  const again = await waitUntil(
    async () => {
      const job = await queue.getJob(jobIdOf(asked));
      return job !== undefined && job.attemptsStarted === 1 && (await job.isDelayed()) && job;
    },
    { what: 'the job to be delayed again', everyMs: 100 },
  );
  expect(await asked.status()).toBe('pending');
  // Not an attempt that failed: those are numbered.
  expect(again.attemptsMade).toBe(0);
  await allExpire([asked]);
  await waitUntil(async () => (await queue.getJobCountByTypes()) === 0, { what: 'the job to be done' });
  expect(faults).toEqual([]);
});

it('learns from a pod whose timers fire together that it is at work, for half a second', async () => {
  const { engine, backend } = pod;
  const isExpiring = () => backend.elicitations.isExpiring();
  const [one, other] = [mintElicitationId(newOwner()), mintElicitationId(newOwner())];
  await engine.expireFired([one]);
  expect(await isExpiring()).toBe(false);
  const isNoted = async () => {
    await engine.expireFired([one, other]);
    return isExpiring();
  };
  await waitUntil(isNoted, { what: 'the note', everyMs: 1 });
  expect(await redisCommand(site.port, 'PTTL', expiringKey())).toBeLessThanOrEqual(500);
  await waitUntil(async () => !(await isExpiring()), { what: 'its end' });
});

it('keeps jobs by the Redis clock, although the clock of the asking pod is an hour behind', async () => {
  const asker = await openPod({ timers: 'queue' });
  const queue = await site.openQueue();
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
  const asked = await question(asker).finally(() => vi.useRealTimers());
  const job = await waitUntil(() => queue.getJob(jobIdOf(asked)), { what: 'the job' });
  expect(job.timestamp + job.delay).toBe(asked.expiresAt + BACKUP_DELAY_MS);
});

it('keeps one job for the questions of a bucket, whose end changes no job', async () => {
  const asker = await openPod({ timers: 'queue' });
  const queue = await site.openQueue();
  const first = await question(asker);
  await waitUntil(() => queue.getJob(jobIdOf(first)), { what: 'the job' });
  const later = await question(asker, { timeoutSeconds: 700 }, asker, first.owner);
  for (const { id } of [later, first]) await answerQuestion(asker.engine, first.owner, id, 'decline');
  const other = await question(asker, { timeoutSeconds: 500 }, asker, first.owner);
  await waitUntil(() => queue.getJob(jobIdOf(other)), { what: 'the job of an earlier deadline' });
  expect((await queue.getJobs()).map(({ id }) => id).sort()).toEqual([first, other].map(jobIdOf).sort());
});

it('completes the jobs that older builds add for each question, whether it is due, has ended or is gone', async () => {
  const queue = await site.openQueue();
  const owner = newOwner();
  const asked = await question(pod);
  await answerQuestion(pod.engine, asked.owner, asked.id, 'decline');
  const ghost = mintElicitationId(owner);
  const due = await question(pod, { timeoutSeconds: 1 });
  for (const id of [asked.id, ghost, due.id]) await queue.add('expire', {}, { jobId: id, delay: 1 });
  const { faults } = await openWorker();
  await allExpire([due]);
  await waitUntil(async () => (await queue.getJobCountByTypes()) === 0, { what: 'the jobs to be done' });
  expect(faults).toEqual([]);
  expect(await asked.status()).toBe('declined');
  expect(await asked.endings()).toBe(1);
});

it('keeps a job with an unknown name for a worker that knows it, and continues', async () => {
  const queue = await site.openQueue();
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

it('gets a job that was lost again by one sweep', async () => {
  const asker = await openPod({ timers: 'queue' });
  const queue = await site.openQueue();
  const asked = await question(asker);
  await waitUntil(() => queue.getJob(jobIdOf(asked)), { what: 'the job' });
  await queue.obliterate({ force: true });
  expect(await queue.getJobCountByTypes()).toBe(0);
  await asker.engine.sweep();
  await waitUntil(() => queue.getJob(jobIdOf(asked)), { what: 'the job again' });
  expect(await asked.status()).toBe('pending');
});

it('leaves the question of an abandoned job to the sweep, which adds the job of the next one', async () => {
  const asker = await openPod({ timers: 'queue' });
  const queue = await site.openQueue();
  const givenUp = await question(asker, { timeoutSeconds: 1 });
  const next = await question(asker, { timeoutSeconds: 600 }, asker, givenUp.owner);
  await waitUntil(() => queue.getJob(jobIdOf(givenUp)), { what: 'the job' });
  // As BullMQ marks a job that took too many workers with it.
  const key = `${timerPrefix(0)}:expiry:${jobIdOf(givenUp)}`;
  await redisCommand(site.port, 'HSET', key, 'defa', 'stalled too often');
  const { faults } = await openWorker();
  await waitUntil(() => faults.length > 0, { what: 'the job to be given up' });
  expect(await givenUp.status()).toBe('pending');
  await asker.engine.sweep();
  await allExpire([givenUp]);
  await waitUntil(() => queue.getJob(jobIdOf(next)), { what: 'the job of the next deadline' });
});

it('fires deadlines of pods with more timer queues than it has, also of queues that come later', async () => {
  const worker = await openWorker({ timerQueues: 1, searchEveryMs: 200 });
  const asker = await openPod({ timers: 'queue', timerQueues: 4 });
  const asked = await Promise.all(Array.from({ length: 20 }, () => question(asker, { timeoutSeconds: 1 })));
  await allExpire(asked);
  expect(worker.faults).toEqual([]);
});
