/**
 * Decides when a process looks for due outbox tasks, by announcements, timers and a slow backup scan. What happens to a due
 * task is in `dispatch.ts`.
 */

import type { Outbox } from '../ports/delivery/outbox.ts';
import type { Dispatch } from './dispatch.ts';

interface DispatchLoopOptions {
  readonly outbox: Pick<Outbox, 'watch' | 'nextInMs'>;
  readonly dispatch: Pick<Dispatch, 'kinds' | 'round'>;
  /** How often all buckets are scanned as a backup, in ms. The interval grows up to 16 times while scans find nothing new. */
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

interface DispatchLoop {
  /** Scans all buckets for due tasks now. */
  nudge(): void;
  /** Stops the loop. Resolves once no round is running. */
  stop(): Promise<void>;
}

// Within this time, the process that noted a task of an immediate kind takes it itself.
const SETTLE_MS = 200;
const PAUSES_MAX = 16;
// Node fires longer timers at once. A bucket whose timer fires too early is simply armed again.
const TIMER_MAX_MS = 86_400_000;

/**
 * Handles the tasks of an outbox. A bucket is read when a task is noted in it, when its next task is due, and after
 * announcements may have been lost. As a backup, all buckets are read from time to time.
 */
export function startDispatching({ outbox, dispatch, everyMs, onError }: DispatchLoopOptions): DispatchLoop {
  const stopped = new AbortController();
  const timers = new Map<number, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  const due = new Set<number>();
  let isAllDue = false;
  let pauses = 1;
  let backup: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;

  /** Schedules a bucket to be read in `inMs`, unless it is due earlier. */
  function arm(bucket: number, inMs: number): void {
    const at = performance.now() + inMs;
    const armed = timers.get(bucket);
    if (stopped.signal.aborted || due.has(bucket) || (armed !== undefined && armed.at <= at)) return;
    clearTimeout(armed?.timer);
    const timer = setTimeout(
      () => {
        timers.delete(bucket);
        due.add(bucket);
        work();
      },
      Math.min(inMs, TIMER_MAX_MS),
    );
    timers.set(bucket, { at, timer });
  }

  function armBackup(): void {
    clearTimeout(backup);
    if (stopped.signal.aborted) return;
    // The jitter keeps processes from scanning at the same moment.
    backup = setTimeout(lookThrough, everyMs * pauses * (0.75 + Math.random() / 2));
  }

  function lookThrough(): void {
    isAllDue = true;
    work();
  }

  function work(): void {
    working ??= handleDue().finally(() => {
      working = undefined;
    });
  }

  async function handleDue(): Promise<void> {
    while ((isAllDue || due.size > 0) && !stopped.signal.aborted)
      await (isAllDue ? handleAll() : handleSome());
  }

  async function handleAll(): Promise<void> {
    isAllDue = false;
    const started = await round();
    pauses = started === 0 ? Math.min(2 * pauses, PAUSES_MAX) : 1;
    armBackup();
  }

  async function handleSome(): Promise<void> {
    const buckets = [...due];
    due.clear();
    const started = await round(buckets);
    for (const bucket of buckets) {
      const next = started === undefined ? 0 : await outbox.nextInMs(bucket, dispatch.kinds).catch(() => 0);
      // A task that is due but was not started waits for a free place.
      if (next !== undefined) arm(bucket, next > 0 ? next : everyMs);
    }
  }

  /** The number of tasks that were started; undefined when the outbox could not be read. */
  async function round(buckets?: readonly number[]): Promise<number | undefined> {
    try {
      return await dispatch.round(stopped.signal, buckets);
    } catch (error) {
      onError(error);
      return undefined;
    }
  }

  const unwatch = outbox.watch((signal) => {
    const { bucket } = signal;
    // The read after a resync also tells when postponed tasks of the bucket are due.
    if (signal.type === 'resync') arm(bucket, 0);
    else arm(bucket, Math.max(signal.inMs, SETTLE_MS * (0.5 + Math.random())));
  });
  armBackup();
  return {
    nudge: lookThrough,
    async stop() {
      stopped.abort();
      unwatch();
      clearTimeout(backup);
      for (const { timer } of timers.values()) clearTimeout(timer);
      await working;
    },
  };
}
