/** Timers of one process that fire at deadlines. Firing early or twice is harmless, because the commit decides. */
export interface Timers {
  /** Arms the timer of one elicitation, `delayMs` from now. Safe to repeat. */
  schedule(elicitationId: string, delayMs: number): void;
  /** Disarms it. */
  cancel(elicitationId: string): void;
}
