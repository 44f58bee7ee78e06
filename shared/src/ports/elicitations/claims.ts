/** A name within a tenant that only the first comer gets. */
export interface ClaimName {
  readonly family: 'idempotency' | 'stream' | 'secret';
  readonly tenant: string;
  readonly name: string;
}

/** First come, first served, over all pods. */
export interface Claims {
  /**
   * Sets `value` under `name` if nobody has it; returns the value that holds it now. Kept for `ttlMs`, and for that
   * long again when the same value claims it again; never shorter than it was.
   */
  claim(name: ClaimName, value: string, ttlMs: number): Promise<string>;
}
