import type { Timers } from '../ports/timers.ts';

export interface LocalTimersOptions {
  /** Called when a deadline comes; returns ms after which to call again when it came too early. */
  readonly onDue: (elicitationId: string) => Promise<number | undefined>;
  /** Timers held at most; beyond it the other layers are enough. */
  readonly timersMax: number;
}

export interface LocalTimers extends Timers {
  close(): void;
}

/** Deadlines as timers of this process: exact while it lives. They run on durations, so its clock does not matter. */
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
      // The sweep comes round in any case.
      () => undefined,
    );
  }

  return {
    async schedule(elicitationId, delayMs) {
      if (armed.size < timersMax) arm(elicitationId, delayMs);
    },
    async cancel(elicitationId) {
      clearTimeout(armed.get(elicitationId));
      armed.delete(elicitationId);
    },
    close() {
      for (const timer of armed.values()) clearTimeout(timer);
      armed.clear();
    },
  };
}
