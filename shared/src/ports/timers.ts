/** Fires `expire` for an elicitation when its deadline comes. Firing early or twice is harmless; the commit decides. */
export interface Timers {
  /** Arms the timer of one elicitation, `delayMs` from now. Arming it again replaces nothing and is harmless. */
  schedule(elicitationId: string, delayMs: number): Promise<void>;
  /** Disarms it, best effort. */
  cancel(elicitationId: string): Promise<void>;
}
