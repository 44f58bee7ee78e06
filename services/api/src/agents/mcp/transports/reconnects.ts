import type { ReconnectionScheduler } from '@modelcontextprotocol/client';

export interface Reconnects {
  readonly schedule: ReconnectionScheduler;
  /** None of those scheduled happens any more. */
  clear(): void;
}

const DELAY_MAX_MS = 15_000;
const WISHED_MAX_MS = 5_000;
const STEP_MS = 100;
const WINDOW_MS = 60_000;

/**
 * When a broken stream of events is taken up again. The SDK forgets all but the last timer, obeys any `retry:` of the
 * server, and comes back every second to a server that ends each stream at once; this one does none of it.
 */
export function createReconnects(): Reconnects {
  const timers = new Set<NodeJS.Timeout>();
  let recent: number[] = [];

  return {
    schedule: (reconnect, wishedMs) => {
      const now = performance.now();
      recent = recent.filter((at) => at > now - WINDOW_MS);
      const backoffMs = Math.min(STEP_MS * 2 ** recent.length, DELAY_MAX_MS);
      recent.push(now);
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          reconnect();
        },
        Math.max(Math.min(wishedMs, WISHED_MAX_MS), backoffMs),
      );
      timers.add(timer);
      return undefined;
    },
    clear: () => {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
