const STEP_MS = 50;
const MAX_MS = 1_000;

/**
 * The pause before the next attempt to connect, in ms; `attempt` counts from 1. It grows to one second, with jitter, so that
 * pods which lost the same Redis do not reconnect at the same instant.
 */
export function reconnectPauseMs(attempt: number): number {
  return Math.min(STEP_MS * attempt, MAX_MS) * (0.5 + Math.random() / 2);
}
