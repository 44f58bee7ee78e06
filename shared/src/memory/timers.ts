import type { Timers } from '../ports/timers.ts';

export interface LocalTimersOptions {
  /**
   * Called with elicitations whose deadlines have passed. Returns, for those where it was too early, the ms after which to
   * call it again.
   */
  readonly onDue: (elicitationIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Limit of the number of timers. Above it, a job or the sweep expires the elicitation. */
  readonly timersMax: number;
}

export interface LocalTimers extends Timers {
  close(): void;
}

// A call takes about as long as the expiry of one elicitation, and those that are due in the meantime come after it.
const DUE_MAX = 100;

/**
 * Deadlines as timers of this process. They run on durations, so the wall clock of the process does not matter. Those that
 * pass while others are expired are expired together afterwards.
 */
export function createLocalTimers({ onDue, timersMax }: LocalTimersOptions): LocalTimers {
  const armed = new Map<string, NodeJS.Timeout>();
  let due: string[] = [];
  let isBusy = false;

  function arm(id: string, delayMs: number): void {
    clearTimeout(armed.get(id));
    armed.set(id, setTimeout(() => fire(id), delayMs).unref());
  }

  function fire(id: string): void {
    armed.delete(id);
    due.push(id);
    if (isBusy) return;
    isBusy = true;
    // Further timers may fire in the same turn of the event loop.
    setImmediate(() => void handleDue());
  }

  async function handleDue(): Promise<void> {
    while (due.length > 0) {
      const ids = due.splice(0, DUE_MAX);
      // What fails is expired by a job or the sweep instead.
      const early = await onDue(ids).catch(() => new Map<string, number>());
      for (const [id, retryInMs] of early) arm(id, retryInMs);
    }
    isBusy = false;
  }

  return {
    schedule(elicitationId, delayMs) {
      if (armed.size < timersMax) arm(elicitationId, delayMs);
    },
    cancel(elicitationId) {
      clearTimeout(armed.get(elicitationId));
      armed.delete(elicitationId);
    },
    close() {
      for (const timer of armed.values()) clearTimeout(timer);
      armed.clear();
      due = [];
    },
  };
}
