import type { ReconnectionScheduler } from '@modelcontextprotocol/client';

interface Reconnects {
  readonly schedule: ReconnectionScheduler;
  /** Cancels all scheduled reconnects. */
  clear(): void;
}

const DELAY_MAX_MS = 15_000;
const REQUESTED_MAX_MS = 5_000;
const STEP_MS = 100;
const WINDOW_MS = 60_000;

/**
 * Schedules the reconnects of broken event streams. The SDK's own scheduler cancels only the last timer, obeys any
 * `retry:` of the server, and reconnects every second to a server that ends each stream at once. This one cancels all
 * timers, limits `retry:` and backs off.
 */
export function createReconnects(): Reconnects {
  const timers = new Set<NodeJS.Timeout>();
  let recent: number[] = [];

  return {
    schedule: (reconnect, requestedMs) => {
      const now = performance.now();
      recent = recent.filter((at) => at > now - WINDOW_MS);
      const backoffMs = Math.min(STEP_MS * 2 ** recent.length, DELAY_MAX_MS);
      recent.push(now);
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          reconnect();
        },
        Math.max(Math.min(requestedMs, REQUESTED_MAX_MS), backoffMs),
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
