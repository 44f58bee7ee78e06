/** Whether the lease of a pod is valid. */
export interface PodLease {
  readonly pod: string;
  readonly isAlive: boolean;
}

/** The leases of the pods that run turns, renewed by heartbeats. */
export interface Heartbeats {
  /** Extends the lease of this pod to `ttlMs` from now. */
  beat(pod: string, ttlMs: number): Promise<void>;
  /** The pods whose lease has lapsed and that have not been forgotten. */
  lapsed(): Promise<readonly string[]>;
  /** Forgets a pod with a lapsed lease. Its next heartbeat registers it again. */
  forget(pod: string): Promise<void>;
  /** At most `limit` known pods, and whether the lease of each is valid. */
  leases(limit: number): Promise<readonly PodLease[]>;
  /** True while the pod's lease is valid. */
  alive(pod: string): Promise<boolean>;
  /**
   * False when the pod has no connection for wakes now: it died, or is about to reconnect. True if this cannot be determined.
   */
  connected(pod: string): Promise<boolean>;
}
