/** Signs of life of the pods that run turns. */
export interface Heartbeats {
  /** Says that this pod lives, for the next `ttlMs`. */
  beat(pod: string, ttlMs: number): Promise<void>;
  /** Pods whose last beat holds no more, and that were not forgotten since. */
  lapsed(): Promise<readonly string[]>;
  /** Forgets a pod whose last beat holds no more; when it beats again it is known again. */
  forget(pod: string): Promise<void>;
  /** True while the last beat of that pod holds. */
  alive(pod: string): Promise<boolean>;
}
