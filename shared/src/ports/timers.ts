/** Fires `expire` for an elicitation at its deadline. Firing early or twice is harmless, because the commit decides. */
export interface Timers {
  /** Arms the timer of one elicitation, `delayMs` from now. Safe to repeat. */
  schedule(elicitationId: string, delayMs: number): Promise<void>;
  /** Disarms it, best effort. */
  cancel(elicitationId: string): Promise<void>;
}
