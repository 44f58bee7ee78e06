/** Whether the lease of a pod lasts. */
export interface PodLease {
  readonly pod: string;
  readonly isAlive: boolean;
}

/** Leases of the pods that run turns, kept up by heartbeats. */
export interface Heartbeats {
  /** Extends the lease of this pod to `ttlMs` from now. */
  beat(pod: string, ttlMs: number): Promise<void>;
  /** Pods whose lease has lapsed, and that were not forgotten since. */
  lapsed(): Promise<readonly string[]>;
  /** Forgets a pod whose lease has lapsed; its next heartbeat makes it known again. */
  forget(pod: string): Promise<void>;
  /** Pods that are known, at most `limit`, and whether the lease of each lasts. */
  leases(limit: number): Promise<readonly PodLease[]>;
  /** True while the lease of that pod lasts. */
  alive(pod: string): Promise<boolean>;
  /**
   * False when the pod has no connection for wakes at this moment: it died, or is about to reconnect. True also where that
   * cannot be known.
   */
  connected(pod: string): Promise<boolean>;
}
