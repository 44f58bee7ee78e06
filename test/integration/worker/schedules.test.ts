import { MAINTENANCE_JOBS } from '@parley/shared/ports/jobs';
import { canaryKey } from '@parley/shared/redis/client/keys';
import { type SchedulesOptions, schedule } from '@parley/shared/redis/jobs/schedules';
import { MAINTENANCE_QUEUE } from '@parley/shared/redis/jobs/timers';
import { beforeEach, expect, it } from 'vitest';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { redisOfFile } from '../../harness/worker/redis-of-file.ts';
import { nextBeat, question, type TestPod } from '../../harness/worker/setup.ts';

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

const site = redisOfFile();
let pod: TestPod;
let faults: unknown[];
beforeEach(async () => {
  faults = [];
  pod = await site.openPod();
});
const openWorker = () => site.openWorker(pod);
const openQueue = () => site.openQueue(MAINTENANCE_QUEUE);
const beat = () => nextBeat(pod, site.port);

async function keep(more: Partial<SchedulesOptions> = {}): Promise<void> {
  const kept = schedule({
    location: site.location,
    everyMs: EVERY_MS,
    onError: (error) => faults.push(error),
    renewEveryMs: NEVER_MS,
    ...more,
  });
  site.hold(kept);
  await kept.ready();
}

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
  expect(Number(await redisCommand(site.port, 'PTTL', canaryKey()))).toBeGreaterThan(3_600_000);
});

it('is restored as soon as the worker is connected again', async () => {
  await openWorker();
  await keep();
  await beat();
  await redisCommand(site.port, 'FLUSHALL');
  await redisCommand(site.port, 'CLIENT', 'KILL', 'TYPE', 'normal');
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

it('removes the rounds that only a version before had, also when its workers add them again', async () => {
  const queue = await openQueue();
  const addAgain = () => queue.upsertJobScheduler('outbox', { every: NEVER_MS }, { name: 'outbox' });
  await addAgain();
  await keep({ renewEveryMs: 20 });
  for (let time = 0; time < 2; time += 1) {
    await waitUntil(async () => (await queue.getJobScheduler('outbox')) === undefined, {
      what: 'the removal',
    });
    await addAgain();
  }
});
