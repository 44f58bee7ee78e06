import { type ConnectionOptions, Queue } from 'bullmq';
import { BACKUP_DELAY_MS, type DeadlineJobs } from '../../ports/elicitations/deadlines.ts';
import type { DueJobData, JobName } from '../../ports/jobs.ts';
import type { Commands } from '../client/connect.ts';

/** Name of the queues of deadlines. */
export const EXPIRY_QUEUE = 'expiry';
const DUE_JOB = 'expire-due' satisfies JobName;

/** The greatest number of timer queues that can be configured. */
export const TIMER_QUEUES_MAX = 64;

/** How long a worker of a queue waits for a job with one command; connections take a server that is silent for 15 s for dead. */
export const BLOCK_SECONDS = 10;

/** Key prefix of the `index`-th of the timer queues; each has a hash tag of its own, as BullMQ needs on a Cluster. */
export function timerPrefix(index: number): string {
  return `parley:{timers-${index}}`;
}

// Finished jobs hold nothing that the rows do not; failed ones stay a day for inspection.
const JOB_OPTIONS = {
  removeOnComplete: true,
  removeOnFail: { age: 24 * 3600, count: 1_000 },
  attempts: 5,
  backoff: { type: 'exponential', delay: 500 },
} as const;

// Nobody reads BullMQ's event stream here; a short one keeps its memory flat.
const QUEUE_STREAMS = { events: { maxLen: 10 } } as const;

interface QueuedDeadlines extends DeadlineJobs {
  close(): Promise<void>;
}

/** Deadlines as BullMQ delayed jobs, one for each bucket's armed deadline, spread over `queues` queues. */
export function createDeadlineJobs(connection: Commands, queues: number): QueuedDeadlines {
  const producers = new Map<number, Queue>();

  function queueFor(bucket: number): Queue {
    const index = bucket % queues;
    const known = producers.get(index);
    if (known !== undefined) return known;
    // A queue made while its connection is unavailable would stay broken for good.
    if (connection.status !== 'ready') throw new Error('The timer connection is not ready.');
    const queue = openQueue(connection, EXPIRY_QUEUE, index);
    producers.set(index, queue);
    return queue;
  }

  return {
    async add({ bucket, deadline, elicitationId, delayMs }) {
      await queueFor(bucket).add(DUE_JOB, { bucket, deadline, elicitationId } satisfies DueJobData, {
        jobId: `${bucket}-${deadline}`,
        // The time by which BullMQ keeps the job is then the deadline on the Redis clock, whatever this process's clock says.
        timestamp: deadline - delayMs,
        delay: Math.max(0, delayMs + BACKUP_DELAY_MS),
        // A failed job that stayed would keep its id, and the job could not be added again.
        removeOnFail: true,
      });
    },
    async close() {
      await Promise.all([...producers.values()].map((queue) => queue.close()));
    },
  };
}

/** Those of these timer queues that have jobs, delayed or due. */
export async function queuesWithJobs(redis: Commands, queues: readonly number[]): Promise<number[]> {
  const keysOf = (index: number) =>
    ['delayed', 'wait', 'active'].map((list) => `${timerPrefix(index)}:${EXPIRY_QUEUE}:${list}`);
  // Most searches find nothing. On a Cluster each queue is asked for at its own server.
  if (!redis.isCluster && (await redis.exists(...queues.flatMap(keysOf))) === 0) return [];
  const counts = await Promise.all(queues.map((index) => redis.exists(...keysOf(index))));
  return queues.filter((_, at) => (counts[at] ?? 0) > 0);
}

/** Opens a queue by name on the `index`-th timer prefix. The connection must be ready. */
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
