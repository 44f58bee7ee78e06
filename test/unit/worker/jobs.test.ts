import { BACKUP_DELAY_MS } from '@parley/shared/ports/elicitations/deadlines';
import { expect, it } from 'vitest';
import { createJobs, type JobsDeps } from '../../../services/worker/src/jobs.ts';

const BUCKET = 7;
const DEADLINE = 1_763_000_000_000;

/** Runs the job of a deadline, after which this deadline is armed. */
async function runJob(next: { deadline: number; delayMs: number } | undefined) {
  const calls: object[] = [];
  const engine: Partial<JobsDeps['engine']> = {
    expireDue: async (input) => {
      calls.push(input);
      return next && { bucket: BUCKET, elicitationId: 'el_next', ...next };
    },
  };
  const jobs = createJobs({ engine } as JobsDeps);
  const data = { bucket: BUCKET, deadline: DEADLINE, elicitationId: 'el_armed' };
  const signal = new AbortController().signal;
  return { result: await jobs['expire-due']({ id: 'job', data, signal }), calls };
}

it('the job of a deadline leaves what has passed a moment ago to the pod that asked', async () => {
  const { calls } = await runJob(undefined);
  expect(calls).toMatchObject([{ bucket: BUCKET, overdueMs: BACKUP_DELAY_MS }]);
});

it.each([
  ['has not passed by the clock of Redis', 2_000, 2_000 + BACKUP_DELAY_MS],
  ['passed a moment ago', -10, BACKUP_DELAY_MS - 10],
  ['passed long ago, where the job was stopped', -5_000, 0],
])('it runs again where its deadline %s', async (_what, delayMs, retryInMs) => {
  expect((await runJob({ deadline: DEADLINE, delayMs })).result).toEqual({ retryInMs });
});

it('it is done where another deadline is armed, or none', async () => {
  expect((await runJob({ deadline: DEADLINE + 1, delayMs: 1 })).result).toBeUndefined();
  expect((await runJob(undefined)).result).toBeUndefined();
});
