/** The deadline timers of one process. Firing early or twice is harmless, because the commit decides. */
export interface Timers {
  /** Sets the timer of one elicitation to fire in `delayMs`. Idempotent. */
  schedule(elicitationId: string, delayMs: number): void;
  /** Cancels the timer of an elicitation. */
  cancel(elicitationId: string): void;
}
