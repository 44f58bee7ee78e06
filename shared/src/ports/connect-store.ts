/**
 * What hosted pages keep between two requests of one browser. `session`: who is signed in. `sign-in`: on the way through
 * the sign-in. `flow`: on the way through a provider, by its state. `report`: the same where the provider reports by
 * itself. `waiting`: the report that a browser waits for. `binding`: waits for the deployer's word on who it was.
 * `blocked`: an address that failed too often.
 */
export type ConnectFamily = 'session' | 'sign-in' | 'flow' | 'report' | 'waiting' | 'binding' | 'blocked';

/** An entry's name. `id` may be a secret of its bearer: it is not kept as it is. */
export interface ConnectName {
  readonly family: ConnectFamily;
  readonly id: string;
}

export interface ConnectEntry {
  readonly value: string;
  /** Somebody has taken it. */
  readonly taken: boolean;
}

/** Entries that leave by themselves, over all pods. Every call throws `unavailable` while the store is away. */
export interface ConnectStore {
  /** Keeps `value` for `ttlMs`, over whatever was there. */
  put(name: ConnectName, value: string, ttlMs: number): Promise<void>;
  /** Nothing when there is none. An entry that was taken stays readable for the rest of its time. */
  read(name: ConnectName): Promise<ConnectEntry | undefined>;
  /** Gives the value to its first taker, and to that one again; nothing to anybody else. */
  take(name: ConnectName, taker: string): Promise<string | undefined>;
  drop(name: ConnectName): Promise<void>;
}
