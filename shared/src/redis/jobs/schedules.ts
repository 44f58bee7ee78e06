import type { Queue } from 'bullmq';
import { MAINTENANCE_JOBS, type MaintenanceJob } from '../../ports/jobs.ts';
import type { RedisLocation } from '../../ports/redis-location.ts';
import { connectWorker } from '../client/connect.ts';
import { MAINTENANCE_QUEUE, openQueue } from './timers.ts';

export interface SchedulesOptions {
  readonly location: RedisLocation;
  /** Pause between two rounds of each kind of maintenance, in ms. The same on every worker. */
  readonly everyMs: Readonly<Record<MaintenanceJob, number>>;
  /** Called with every schedule that could not be renewed; it is tried again. */
  readonly onError: (error: unknown) => void;
  /** How often the schedules are renewed although nothing seems wrong, in ms. */
  readonly renewEveryMs?: number;
}

export interface Schedules {
  /** Resolves once all schedules stand. */
  ready(): Promise<void>;
  /** Stops renewing. The schedules stay, and other workers keep them. Safe to repeat. */
  close(): void;
}

const RENEW_EVERY_MS = 10_000;
const RETRY_MS = 1_000;
// Rounds that a version before had as jobs. Its workers add them again while they run, so they are removed again and again.
const RETIRED = ['outbox'] as const;

// The next round comes soon, so a failed one is not retried; a few failed jobs are kept for inspection.
const JOB = { attempts: 1, removeOnComplete: true, removeOnFail: { age: 24 * 3600, count: 100 } };

/**
 * Keeps the schedules of all maintenance: for each kind one BullMQ job scheduler that all workers share. Renews them at
 * the start, after every reconnect and periodically, because Redis may have lost them. Any number of workers may do so.
 */
export function schedule({ location, everyMs, onError, renewEveryMs }: SchedulesOptions): Schedules {
  const connection = connectWorker(location);
  connection.on('error', () => undefined);
  connection.on('ready', () => nudge());
  let queue: Queue | undefined;
  let closed = false;
  let nudged = false;
  let wake = () => {};

  function nudge(): void {
    nudged = true;
    wake();
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function renewAll(): Promise<void> {
    queue ??= openQueue(connection, MAINTENANCE_QUEUE, 0);
    for (const name of RETIRED) await queue.removeJobScheduler(name);
    for (const name of MAINTENANCE_JOBS) await renew(queue, name, everyMs[name]);
  }

  async function keep(stand: () => void): Promise<void> {
    while (!closed) {
      nudged = false;
      let untilNextMs = renewEveryMs ?? RENEW_EVERY_MS;
      if (connection.status === 'ready') {
        try {
          await renewAll();
          stand();
        } catch (error) {
          if (closed) return;
          onError(error);
          untilNextMs = RETRY_MS;
        }
      }
      if (!nudged && !closed) await pause(untilNextMs);
    }
  }

  const standing = new Promise<void>((resolve) => void keep(resolve));
  return {
    ready: () => standing,
    close() {
      if (closed) return;
      closed = true;
      wake();
      connection.disconnect();
    },
  };
}

async function renew(queue: Queue, name: MaintenanceJob, every: number): Promise<void> {
  const known = await queue.getJobScheduler(name);
  // BullMQ keeps time by the clocks of its clients: one that is ahead may have put the next round far off, then died.
  if (known?.next !== undefined && known.next > Date.now() + 2 * every) await queue.removeJobScheduler(name);
  await queue.upsertJobScheduler(name, { every }, { name, opts: JOB });
}
