import type { Queue } from 'bullmq';
import type { JobName } from '../../ports/jobs.ts';
import type { Commands } from '../client/connect.ts';
import { canaryKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { EXPIRY_QUEUE, openQueue } from './timers.ts';

// The value is kept for long, so that a dead canary shows as a growing age and not as a missing value.
const KEPT_MS = 24 * 3_600_000;
const CANARY_JOB = 'canary' satisfies JobName;

/** Proves that the jobs of deadlines run. */
export interface Canary {
  /** Adds a job to a deadline queue, unless the previous one still waits there. */
  send(): Promise<void>;
  /** Called by the worker that gets the job: stores the Redis clock (ms), which `health` reads. */
  beat(): Promise<void>;
}

export function createCanary(redis: Commands, onError?: (error: unknown) => void): Canary {
  let queue: Queue | undefined;
  return {
    async send() {
      // BullMQ never repairs a queue that was created while its connection was unavailable.
      if (redis.status !== 'ready') return;
      queue ??= openQueue(redis, EXPIRY_QUEUE, 0);
      const job = { jobId: CANARY_JOB, attempts: 1, removeOnFail: true };
      await queue.add(CANARY_JOB, {}, job);
    },
    beat: () =>
      orUnavailable(async () => {
        const [seconds, microseconds] = await redis.time();
        const now = Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000);
        await redis.set(canaryKey(), now, 'PX', KEPT_MS);
      }, onError),
  };
}
