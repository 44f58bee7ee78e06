/** A name of a tenant that can be claimed once. */
export interface ClaimName {
  readonly family: 'idempotency' | 'stream' | 'secret' | 'sweep' | 'slack';
  readonly tenant: string;
  readonly name: string;
}

/** Claims on names, for all pods: the first value that claims a name keeps it. */
export interface Claims {
  /**
   * Stores `value` under `name` for `ttlMs` unless the name is claimed, and returns the stored value. The same value may claim
   * the name again, which may extend the claim but never shortens it.
   */
  claim(name: ClaimName, value: string, ttlMs: number): Promise<string>;
  /** The stored value of a name; undefined when it is not claimed. */
  read(name: ClaimName): Promise<string | undefined>;
  /** Removes the claim on a name if it has this value. */
  drop(name: ClaimName, value: string): Promise<void>;
}
