import { type ConnectionOptions, Queue } from 'bullmq';
import { BACKUP_DELAY_MS, type DeadlineJobs } from '../../ports/elicitations/deadlines.ts';
import type { DueJobData, JobName } from '../../ports/jobs.ts';
import type { Commands } from '../client/connect.ts';

/** The name of the deadline queues. */
export const EXPIRY_QUEUE = 'expiry';
const DUE_JOB = 'expire-due' satisfies JobName;

/** The maximum number of timer queues that can be configured. */
export const TIMER_QUEUES_MAX = 64;

/** How long one command of a worker waits for a job. It must be below 15 s, after which a silent connection counts as dead. */
export const BLOCK_SECONDS = 10;

/** The key prefix of a timer queue. Each queue has its own hash tag, as BullMQ needs on a Cluster. */
export function timerPrefix(index: number): string {
  return `parley:{timers-${index}}`;
}

// Finished jobs contain nothing that the rows do not; failed ones are kept for a day for inspection.
const JOB_OPTIONS = {
  removeOnComplete: true,
  removeOnFail: { age: 24 * 3600, count: 1_000 },
  attempts: 5,
  backoff: { type: 'exponential', delay: 500 },
} as const;

// Nobody reads BullMQ's event stream here, so it is kept short to save memory.
const QUEUE_STREAMS = { events: { maxLen: 10 } } as const;

interface QueuedDeadlines extends DeadlineJobs {
  close(): Promise<void>;
}

/** Deadlines as delayed jobs of BullMQ: one job for each bucket's armed deadline, spread over `queues` queues. */
export function createDeadlineJobs(connection: Commands, queues: number): QueuedDeadlines {
  const producers = new Map<number, Queue>();

  function queueFor(bucket: number): Queue {
    const index = bucket % queues;
    const known = producers.get(index);
    if (known !== undefined) return known;
    // BullMQ never repairs a queue that was created while its connection was unavailable.
    if (connection.status !== 'ready') throw new Error('The timer connection is not ready.');
    const queue = openQueue(connection, EXPIRY_QUEUE, index);
    producers.set(index, queue);
    return queue;
  }

  return {
    async add({ bucket, deadline, elicitationId, delayMs }) {
      await queueFor(bucket).add(DUE_JOB, { bucket, deadline, elicitationId } satisfies DueJobData, {
        jobId: `${bucket}-${deadline}`,
        // With this timestamp, BullMQ's due time is the deadline on the Redis clock, whatever the clock of this process says.
        timestamp: deadline - delayMs,
        delay: Math.max(0, delayMs + BACKUP_DELAY_MS),
        // A failed job that stayed would block its id, so that the job could not be added again.
        removeOnFail: true,
      });
    },
    async close() {
      await Promise.all([...producers.values()].map((queue) => queue.close()));
    },
  };
}

/** The given timer queues that have jobs, delayed or due. */
export async function queuesWithJobs(redis: Commands, queues: readonly number[]): Promise<number[]> {
  const keysOf = (index: number) =>
    ['delayed', 'wait', 'active'].map((list) => `${timerPrefix(index)}:${EXPIRY_QUEUE}:${list}`);
  // Most searches find nothing, so one command checks all keys first. On a Cluster, each queue is checked on its own server.
  if (!redis.isCluster && (await redis.exists(...queues.flatMap(keysOf))) === 0) return [];
  const counts = await Promise.all(queues.map((index) => redis.exists(...keysOf(index))));
  return queues.filter((_, at) => (counts[at] ?? 0) > 0);
}

/** Opens the queue `name` with the key prefix of the timer queue `index`. The connection must be ready. */
export function openQueue(connection: Commands, name: string, index: number): Queue {
  const queue = new Queue(name, {
    connection: connection as unknown as ConnectionOptions,
    prefix: timerPrefix(index),
    defaultJobOptions: JOB_OPTIONS,
    streams: QUEUE_STREAMS,
    skipVersionCheck: true,
  });
  queue.on('error', () => undefined);
  return queue;
}
