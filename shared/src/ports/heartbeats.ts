/** Signs of life of the pods that run turns. */
export interface Heartbeats {
  /** Says that this pod lives, for the next `ttlMs`. */
  beat(pod: string, ttlMs: number): Promise<void>;
  /** True while the last beat of that pod holds. */
  alive(pod: string): Promise<boolean>;
}
