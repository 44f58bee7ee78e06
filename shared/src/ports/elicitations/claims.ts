/** A name of a tenant that can be claimed once. */
export interface ClaimName {
  readonly family: 'idempotency' | 'stream' | 'secret' | 'sweep' | 'slack';
  readonly tenant: string;
  readonly name: string;
}

/** Claims on names, over all pods: the first value claimed under a name is the one that stays. */
export interface Claims {
  /**
   * Stores `value` under `name` unless the name is claimed already, and returns the stored value. A claim is kept for
   * `ttlMs`. The same value may claim the name again, which may extend the time and never shortens it.
   */
  claim(name: ClaimName, value: string, ttlMs: number): Promise<string>;
  /** The stored value of a name; undefined when it is not claimed. */
  read(name: ClaimName): Promise<string | undefined>;
  /** Ends the claim on a name if this is its value. */
  drop(name: ClaimName, value: string): Promise<void>;
}
