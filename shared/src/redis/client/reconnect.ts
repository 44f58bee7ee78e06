const STEP_MS = 50;
const MAX_MS = 1_000;

/**
 * Pause before the next try to connect, in ms; `attempt` counts from 1. It grows to a second and is another time each
 * time: pods that lost one Redis do not come back in one instant, and no try keeps step with a link that fails at a beat.
 */
export function reconnectPauseMs(attempt: number): number {
  return Math.min(STEP_MS * attempt, MAX_MS) * (0.5 + Math.random() / 2);
}
