/**
 * The queue of runs on BullMQ, through which pods get orphaned and resumed runs. Which pod owns a run is decided by
 * `Runs.takeOver`, never by the queue.
 */

import { isParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import { type ConnectionOptions, DelayedError, type Job, type Queue, Worker } from 'bullmq';
import { z } from 'zod';
import type { RedisLocation } from '../../ports/redis-location.ts';
import type { RunConsumer, RunQueue } from '../../ports/runs/run-queue.ts';
import { type Commands, connectWorker } from '../client/connect.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { BLOCK_SECONDS, openQueue, timerPrefix } from '../jobs/timers.ts';

/** The name of the queue. It uses the first timer prefix. */
export const RUNS_QUEUE = 'runs';
const TAKE_JOB = 'take';
const QUEUE_INDEX = 0;
/** The key prefix of the queue. */
export const RUNS_PREFIX = timerPrefix(QUEUE_INDEX);

// Claiming a run takes two round trips. If a pod needs seconds for that, another pod takes its job.
const LOCK_MS = 3_000;
const STALLED_CHECK_MS = 1_000;
const STALLS_MAX = 5;
const RETRY_MS = 500;
const AT_ONCE = 20;

const Stream = z.object({ tenant: z.string(), userId: z.string(), streamRequestId: z.string() });

interface QueueRunsDeps {
  readonly location: RedisLocation;
  /** The connection on which jobs are added. */
  readonly producer: Commands;
  readonly onError?: (error: unknown) => void;
}

interface QueueRuns extends RunQueue {
  close(): Promise<void>;
}

/** The runs that wait for a pod, as BullMQ jobs. Each consuming pod is a worker of the queue. */
export function createQueueRuns({ location, producer, onError }: QueueRunsDeps): QueueRuns {
  const consumers = new Set<RunConsumer>();
  let queue: Queue | undefined;

  function opened(): Queue {
    // BullMQ never repairs a queue that was created while its connection was unavailable.
    if (producer.status !== 'ready') throw new Error('The connection for jobs is not ready.');
    queue ??= openQueue(producer, RUNS_QUEUE, QUEUE_INDEX);
    return queue;
  }

  return {
    async offer({ tenant, userId, streamRequestId }, term) {
      const data = { tenant, userId, streamRequestId };
      // A failed job that stayed would block its id, so that the run could not be offered again.
      const options = { jobId: jobIdOf(streamRequestId, term), removeOnFail: true };
      await orUnavailable(() => opened().add(TAKE_JOB, data, options), onError);
    },
    async withdraw({ streamRequestId }, term) {
      await orUnavailable(() => opened().remove(jobIdOf(streamRequestId, term)), onError);
    },
    consume(take) {
      const connection = connectWorker(location);
      const worker = new Worker(RUNS_QUEUE, processJob(take), {
        connection: connection as unknown as ConnectionOptions,
        prefix: RUNS_PREFIX,
        concurrency: AT_ONCE,
        drainDelay: BLOCK_SECONDS,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_CHECK_MS,
        maxStalledCount: STALLS_MAX,
        runRetryDelay: RETRY_MS,
      });
      worker.on('error', (error) => onError?.(error));
      let closing: Promise<void> | undefined;
      const close = async () => {
        // A graceful close never ends while Redis is unavailable.
        await worker.close(connection.status !== 'ready');
        connection.disconnect();
      };
      const consumer: RunConsumer = {
        // Deliveries in progress end by themselves.
        pause: () => void worker.pause(true).catch((error: unknown) => onError?.(error)),
        resume: () => worker.resume(),
        close() {
          closing ??= close().finally(() => consumers.delete(consumer));
          return closing;
        },
      };
      consumers.add(consumer);
      return consumer;
    },
    async close() {
      await Promise.allSettled([...consumers].map((consumer) => consumer.close()));
      await queue?.close();
    },
  };
}

function jobIdOf(streamRequestId: string, term: number): string {
  return `${streamRequestId}.${term}`;
}

/** Passes a job's run to `take`. When the pod is full, the job returns to the queue; any other failure removes it. */
function processJob(take: (stream: StreamRef) => Promise<void>) {
  return async (job: Job, token?: string): Promise<void> => {
    try {
      await take(Stream.parse(job.data));
    } catch (error) {
      if (!isParleyError(error, 'pod_busy')) throw error;
      await job.moveToDelayed(Date.now() + RETRY_MS, token);
      throw new DelayedError();
    }
  };
}
