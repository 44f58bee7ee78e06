/** Runs the jobs of the timer queues with BullMQ. What a job does is in the worker service, as processors by job name. */

import {
  type ConnectionOptions,
  DelayedError,
  type Job,
  RedisConnection,
  UnrecoverableError,
  Worker,
} from 'bullmq';
import { within } from '../../async/time-limit.ts';
import type { Again, JobName, Processors } from '../../ports/jobs.ts';
import type { RedisLocation } from '../../ports/redis-location.ts';
import { connectWorker } from '../client/connect.ts';
import { REDIS_MAJOR_MIN } from '../diagnosis/fault.ts';
import { BLOCK_SECONDS, EXPIRY_QUEUE, queuesWithJobs, TIMER_QUEUES_MAX, timerPrefix } from './timers.ts';

export interface WorkersOptions {
  readonly location: RedisLocation;
  /** The number of queues that share the deadlines. A queue beyond these is worked on once it has jobs. */
  readonly timerQueues: number;
  readonly processors: Processors;
  /** The maximum number of jobs that one queue runs at the same time. */
  readonly concurrency: number;
  /** Called with every error, and with the job's name if a job failed. */
  readonly onError: (error: unknown, job?: string) => void;
  /** The time without a heartbeat after which another worker takes a job, and the interval of that check, in ms. */
  readonly lockMs?: number;
  readonly stalledCheckMs?: number;
  /** How often queues beyond `timerQueues` are searched for jobs, in ms. */
  readonly searchEveryMs?: number;
  /** The time after which a job with an unknown name is tried again, in ms. */
  readonly unknownRetryMs?: number;
}

export interface Workers {
  /** The queues from which jobs are taken, by their names in keys: `timers-0`. */
  queues(): readonly string[];
  /** Resolves once every worker is connected and takes jobs. */
  ready(): Promise<void>;
  /** Takes no more jobs and waits for the running ones, for at most `withinMs`. Idempotent. */
  close(withinMs: number): Promise<void>;
}

const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 10_000;
// A job whose worker died this many times is given up; the sweep does its work.
const STALLS_MAX = 3;
// By default, BullMQ waits 15 s after a lost connection, even if the connection is back sooner.
const RETRY_MS = 500;
const SEARCH_EVERY_MS = 30_000;
const UNKNOWN_RETRY_MS = 30_000;
// This is longer than an upgrade takes. A job that still has no processor then belongs to a kind that no longer exists.
const UNKNOWN_KEPT_MS = 7 * 24 * 3_600_000;
/**
 * Runs the jobs of all timer queues. The queues of a process share a connection for their jobs, and each has another one for
 * blocking reads; both wait for Redis as long as necessary. A job that is too early on the Redis clock runs again later.
 */
export function startWorkers(options: WorkersOptions): Workers {
  const { location, timerQueues, concurrency, onError } = options;
  // BullMQ assumes this version when it does not ask the server. For older versions it blocks for whole seconds, so every timer
  // could be up to 1 s late.
  RedisConnection.minimumVersion = `${REDIS_MAJOR_MIN}.0.0`;
  const connection = connectWorker(location);
  const stopping = new AbortController();
  const run = createRunner(options, stopping.signal);

  const queues: string[] = [];
  function start(index: number): Worker {
    queues.push(`timers-${index}`);
    const worker = new Worker(EXPIRY_QUEUE, run, {
      connection: connection as unknown as ConnectionOptions,
      prefix: timerPrefix(index),
      concurrency,
      drainDelay: BLOCK_SECONDS,
      lockDuration: options.lockMs ?? LOCK_MS,
      stalledInterval: options.stalledCheckMs ?? STALLED_CHECK_MS,
      maxStalledCount: STALLS_MAX,
      runRetryDelay: RETRY_MS,
      // The user of a managed server may not be allowed to call INFO, and without it BullMQ's version check would retry
      // endlessly.
      skipVersionCheck: true,
    });
    worker.on('error', (error) => onError(error));
    worker.on('failed', (job, error) => onError(error, job?.name));
    return worker;
  }

  const workers = Array.from({ length: timerQueues }, (_, index) => start(index));
  let closing: Promise<void> | undefined;
  const further = new Set(
    Array.from({ length: TIMER_QUEUES_MAX - timerQueues }, (_, at) => timerQueues + at),
  );

  /** Other processes may be configured with more queues than this one, or have been before. */
  async function startFurther(): Promise<void> {
    if (connection.status !== 'ready' || further.size === 0) return;
    for (const index of await queuesWithJobs(connection, [...further])) {
      if (stopping.signal.aborted) return;
      // A concurrent search may have started the queue already.
      if (further.delete(index)) workers.push(start(index));
    }
  }

  const search = () => void startFurther().catch((error: unknown) => onError(error));
  connection.once('ready', search);
  const searching = setInterval(search, options.searchEveryMs ?? SEARCH_EVERY_MS).unref();

  async function close(withinMs: number): Promise<void> {
    stopping.abort();
    clearInterval(searching);
    // A graceful close never ends while Redis is unavailable, and then jobs cannot be returned to it either.
    const force = connection.status !== 'ready';
    await within(withinMs, Promise.all(workers.map((worker) => worker.close(force))));
    connection.disconnect();
  }

  return {
    queues: () => queues,
    async ready() {
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    close(withinMs) {
      closing ??= close(withinMs);
      return closing;
    },
  };
}

function createRunner(
  { processors, onError, unknownRetryMs = UNKNOWN_RETRY_MS }: WorkersOptions,
  signal: AbortSignal,
) {
  return async (job: Job, token?: string): Promise<void> => {
    const again = isJobName(processors, job.name)
      ? await processors[job.name]({ id: job.id ?? '', data: job.data, signal })
      : whenKnown(job);
    if (again === undefined) return;
    // The delay is computed on this process's clock, because BullMQ compares with that clock: with an absolute Redis time, a
    // fast clock would retry in a tight loop.
    await job.moveToDelayed(Date.now() + again.retryInMs, token);
    throw new DelayedError();
  };

  /** A job of another build waits for a worker that knows it. */
  function whenKnown({ name, timestamp, opts }: Job): Again {
    const message = `There is no job named ${name}.`;
    const overdueMs = Date.now() - timestamp - (opts.delay ?? 0);
    if (overdueMs > UNKNOWN_KEPT_MS) throw new UnrecoverableError(message);
    onError(new Error(`${message} It is kept for a worker that knows it.`));
    return { retryInMs: unknownRetryMs };
  }
}

function isJobName(processors: Processors, name: string): name is JobName {
  return Object.hasOwn(processors, name);
}
