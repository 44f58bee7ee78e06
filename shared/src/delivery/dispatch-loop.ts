import type { Outbox } from '../ports/delivery/outbox.ts';
import type { Dispatch } from './dispatch.ts';

interface DispatchLoopOptions {
  readonly outbox: Pick<Outbox, 'watch' | 'nextInMs'>;
  readonly dispatch: Pick<Dispatch, 'kinds' | 'round'>;
  /** How often everything is looked through, in ms; up to 16 times as seldom while nothing is found that was not announced. */
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

interface DispatchLoop {
  /** Looks for due tasks everywhere now. */
  nudge(): void;
  /** Ends the rounds; resolves once none is under way. */
  stop(): Promise<void>;
}

// A task of a kind that is handled at once is taken by the process that noted it before this time.
const SETTLE_MS = 200;
const PAUSES_MAX = 16;
// A longer timer of Node would end at once. A bucket that is looked at too early is armed again.
const TIMER_MAX_MS = 86_400_000;

/**
 * Handles the tasks of an outbox: those of a bucket when one is noted there, when its next one is due and after messages about it
 * may have been lost, and those of all buckets as a backup.
 */
export function startDispatching({ outbox, dispatch, everyMs, onError }: DispatchLoopOptions): DispatchLoop {
  const stopped = new AbortController();
  const timers = new Map<number, { readonly at: number; readonly timer: NodeJS.Timeout }>();
  const due = new Set<number>();
  let isAllDue = false;
  let pauses = 1;
  let backup: NodeJS.Timeout | undefined;
  let working: Promise<void> | undefined;

  /** Makes a bucket due in so many ms, unless it is due before. */
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
    // Processes do not look together.
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
      // What is due and was not started waits for a place.
      if (next !== undefined) arm(bucket, next > 0 ? next : everyMs);
    }
  }

  /** How many tasks were started; nothing where the outbox could not be read. */
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
    // This look also tells when what was put off before is due.
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
