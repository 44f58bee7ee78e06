import type { Timers } from '../ports/timers.ts';

interface LocalTimersOptions {
  /**
   * Called with elicitations whose deadlines have passed. Returns, for each that was called too early, the ms after which to
   * call again.
   */
  readonly onDue: (elicitationIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** The maximum number of timers. Beyond it, a job or the sweep expires the elicitation. */
  readonly timersMax: number;
}

interface LocalTimers extends Timers {
  close(): void;
}

/** The maximum number of elicitations in one call. */
const DUE_MAX = 100;
/** With two calls, this process prepares one while Redis works on the other. */
const CALLS_MAX = 2;

/**
 * Deadlines as timers of this process. They use durations, so the wall clock of the process does not matter. Timers that fire
 * during a call of `onDue` are combined in the next call.
 */
export function createLocalTimers({ onDue, timersMax }: LocalTimersOptions): LocalTimers {
  const armed = new Map<string, NodeJS.Timeout>();
  const due = new Set<string>();
  let isClosed = false;
  let calls = 0;

  function arm(id: string, delayMs: number): void {
    clearTimeout(armed.get(id));
    if (isClosed) return;
    armed.set(id, setTimeout(() => fire(id), delayMs).unref());
  }

  function fire(id: string): void {
    armed.delete(id);
    due.add(id);
    if (calls >= CALLS_MAX) return;
    calls += 1;
    // More timers may fire in the same turn of the event loop.
    setImmediate(() => void handleDue());
  }

  async function handleDue(): Promise<void> {
    while (due.size > 0) {
      const ids = [...due].slice(0, DUE_MAX);
      for (const id of ids) due.delete(id);
      // After a failed call, a job or the sweep expires the records instead.
      const early = await onDue(ids).catch(() => new Map<string, number>());
      for (const [id, retryInMs] of early) arm(id, retryInMs);
    }
    calls -= 1;
  }

  return {
    schedule(elicitationId, delayMs) {
      if (armed.size < timersMax) arm(elicitationId, delayMs);
    },
    cancel(elicitationId) {
      clearTimeout(armed.get(elicitationId));
      armed.delete(elicitationId);
      due.delete(elicitationId);
    },
    close() {
      for (const timer of armed.values()) clearTimeout(timer);
      armed.clear();
      due.clear();
      isClosed = true;
    },
  };
}
