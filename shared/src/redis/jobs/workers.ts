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
  /** How many queues the deadlines are spread over. Queues beyond these are worked on once they have jobs. */
  readonly timerQueues: number;
  readonly processors: Processors;
  /** Jobs of deadlines that one queue runs at a time. */
  readonly concurrency: number;
  /** Called with every fault, and with the name of the job when a job failed. */
  readonly onError: (error: unknown, job?: string) => void;
  /** How long a job may go without a heartbeat before another worker takes it, and how often that is checked; ms. */
  readonly lockMs?: number;
  readonly stalledCheckMs?: number;
  /** How often queues beyond `timerQueues` are searched for jobs, in ms. */
  readonly searchEveryMs?: number;
  /** After which time a job of an unknown name is tried again, in ms. */
  readonly unknownRetryMs?: number;
}

export interface Workers {
  /** The queues from which jobs are taken, as in their keys: `timers-0`. */
  queues(): readonly string[];
  /** Resolves once every worker is connected and takes jobs. */
  ready(): Promise<void>;
  /** Takes no more jobs and waits for those that run, `withinMs` at most. Safe to repeat. */
  close(withinMs: number): Promise<void>;
}

const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 10_000;
// A job that lost this many workers is given up, and the sweep does its work.
const STALLS_MAX = 3;
// BullMQ waits 15 s after a lost connection by default, even when the connection is back sooner.
const RETRY_MS = 500;
const SEARCH_EVERY_MS = 30_000;
const UNKNOWN_RETRY_MS = 30_000;
// Longer than an upgrade takes. What still has no worker then belongs to a job that no longer exists.
const UNKNOWN_KEPT_MS = 7 * 24 * 3_600_000;
/**
 * Runs the jobs of all timer queues. Jobs of one process share a connection, each queue has another to block on; both wait
 * for Redis as long as it takes. A job that comes early by the Redis clock re-arms.
 */
export function startWorkers(options: WorkersOptions): Workers {
  const { location, timerQueues, concurrency, onError } = options;
  // What BullMQ takes an unasked server for. For older ones it blocks for whole seconds, and every timer would be up to 1 s late.
  RedisConnection.minimumVersion = `${REDIS_MAJOR_MIN}.0.0`;
  const connection = connectWorker(location);
  connection.on('error', () => undefined);
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
      // The user of a managed server may lack INFO, and BullMQ would turn in a circle without it.
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

  /** Other processes may have had more queues, or have more by now. */
  async function startFurther(): Promise<void> {
    if (connection.status !== 'ready' || further.size === 0) return;
    for (const index of await queuesWithJobs(connection, [...further])) {
      if (stopping.signal.aborted) return;
      // Another search may have started it during this one.
      if (further.delete(index)) workers.push(start(index));
    }
  }

  const search = () => void startFurther().catch((error: unknown) => onError(error));
  connection.once('ready', search);
  const searching = setInterval(search, options.searchEveryMs ?? SEARCH_EVERY_MS).unref();

  async function close(withinMs: number): Promise<void> {
    stopping.abort();
    clearInterval(searching);
    // Closing gracefully never ends while Redis is unavailable, and then there is nothing to hand back either.
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
    // On this process' clock, which is the one it fires by: an absolute time of Redis would make a fast clock spin.
    await job.moveToDelayed(Date.now() + again.retryInMs, token);
    throw new DelayedError();
  };

  /** A job of a newer or an older build waits for a worker that knows it. */
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
