import type { Timers } from '../ports/timers.ts';

export interface LocalTimersOptions {
  /** Called at a deadline. When it was too early, returns the ms after which to call it again. */
  readonly onDue: (elicitationId: string) => Promise<number | undefined>;
  /** Limit of the number of timers. Above it, a job or the sweep expires the elicitation. */
  readonly timersMax: number;
}

export interface LocalTimers extends Timers {
  close(): void;
}

/** Deadlines as timers of this process. They run on durations, so the wall clock of the process does not matter. */
export function createLocalTimers({ onDue, timersMax }: LocalTimersOptions): LocalTimers {
  const armed = new Map<string, NodeJS.Timeout>();

  function arm(id: string, delayMs: number): void {
    clearTimeout(armed.get(id));
    armed.set(id, setTimeout(() => fire(id), delayMs).unref());
  }

  function fire(id: string): void {
    armed.delete(id);
    onDue(id).then(
      (retryInMs) => {
        if (retryInMs !== undefined) arm(id, retryInMs);
      },
      // The sweep will expire the elicitation instead.
      () => undefined,
    );
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
    },
  };
}
