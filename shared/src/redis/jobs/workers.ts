import { type ConnectionOptions, DelayedError, type Job, UnrecoverableError, Worker } from 'bullmq';
import { type JobName, MAINTENANCE_JOBS, type Processors } from '../../ports/jobs.ts';
import type { RedisLocation } from '../../ports/redis-location.ts';
import { connectWorker } from '../client/connect.ts';
import { EXPIRY_QUEUE, MAINTENANCE_QUEUE, timerPrefix } from './timers.ts';

export interface WorkersOptions {
  readonly location: RedisLocation;
  /** How many queues the deadlines are spread over; the same number as those who schedule. */
  readonly timerQueues: number;
  readonly processors: Processors;
  /** Expiries that one queue runs at a time. */
  readonly concurrency: number;
  /** Called with every fault, and with the name of the job when a job failed. */
  readonly onError: (error: unknown, job?: string) => void;
  /** How long a job may go without a heartbeat before another worker takes it, and how often that is checked; ms. */
  readonly lockMs?: number;
  readonly stalledCheckMs?: number;
}

export interface Workers {
  /** Resolves once every worker is connected and takes jobs. */
  ready(): Promise<void>;
  /** Takes no more jobs and waits for those that run, `withinMs` at most. Safe to repeat. */
  close(withinMs: number): Promise<void>;
}

const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 10_000;
// A job that lost this many workers is given up, and the sweep does its work.
const STALLS_MAX = 3;
// BullMQ would sit out 15 s after a lost connection, however soon it is back.
const RETRY_MS = 500;
// Maintenance waits for no other maintenance: a long audit must not keep the canary from its beat.
const MAINTENANCE_CONCURRENCY = 2 * MAINTENANCE_JOBS.length;

/**
 * Runs the jobs of all timer queues and of the maintenance queue. Jobs of one process share a connection, each queue
 * has another to block on; both wait for Redis as long as it takes. A job that comes early by the Redis clock re-arms.
 */
export function startWorkers(options: WorkersOptions): Workers {
  const { location, timerQueues, concurrency, onError } = options;
  const connection = connectWorker(location);
  connection.on('error', () => undefined);
  const stopping = new AbortController();
  const run = createRunner(options.processors, stopping.signal);

  function start(queue: string, index: number, jobsAtATime: number): Worker {
    const worker = new Worker(queue, run, {
      connection: connection as unknown as ConnectionOptions,
      prefix: timerPrefix(index),
      concurrency: jobsAtATime,
      lockDuration: options.lockMs ?? LOCK_MS,
      stalledInterval: options.stalledCheckMs ?? STALLED_CHECK_MS,
      maxStalledCount: STALLS_MAX,
      runRetryDelay: RETRY_MS,
      // Without the version BullMQ would not dare to block for fractions of a second: every timer up to 1 s late.
      skipVersionCheck: false,
    });
    worker.on('error', (error) => onError(error));
    worker.on('failed', (job, error) => onError(error, job?.name));
    return worker;
  }

  const workers = [
    ...Array.from({ length: timerQueues }, (_, index) => start(EXPIRY_QUEUE, index, concurrency)),
    start(MAINTENANCE_QUEUE, 0, MAINTENANCE_CONCURRENCY),
  ];
  let closing: Promise<void> | undefined;

  async function close(withinMs: number): Promise<void> {
    stopping.abort();
    // Closing gracefully never ends while Redis is away, and then there is nothing to hand back either.
    const force = connection.status !== 'ready';
    await atMost(withinMs, Promise.all(workers.map((worker) => worker.close(force))));
    connection.disconnect();
  }

  return {
    async ready() {
      await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    },
    close(withinMs) {
      closing ??= close(withinMs);
      return closing;
    },
  };
}

function createRunner(processors: Processors, signal: AbortSignal) {
  return async (job: Job, token?: string): Promise<void> => {
    if (!isJobName(processors, job.name)) throw new UnrecoverableError(`There is no job named ${job.name}.`);
    const again = await processors[job.name]({ id: job.id ?? '', signal });
    if (again === undefined) return;
    // On this process' clock, which is the one it fires by: an absolute time of Redis would make a fast clock spin.
    await job.moveToDelayed(Date.now() + again.retryInMs, token);
    throw new DelayedError();
  };
}

function isJobName(processors: Processors, name: string): name is JobName {
  return Object.hasOwn(processors, name);
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
