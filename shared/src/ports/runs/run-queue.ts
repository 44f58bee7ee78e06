import type { StreamRef } from '@parley/core/domain/ids';

/** Delivery of runs to a pod. */
export interface RunConsumer {
  /** Leaves queued runs to other pods until `resume` is called. A delivery in progress may still come. */
  pause(): void;
  resume(): void;
  /** Ends the delivery. Idempotent. */
  close(): Promise<void>;
}

/**
 * The runs that wait for a pod. Each is delivered at least once. `Runs.takeOver` decides which pod owns a run, so a second
 * delivery is harmless.
 */
export interface RunQueue {
  /** Queues a run under its current term; a repeated offer of the same term queues it once. Throws `unavailable`. */
  offer(stream: StreamRef, term: number): Promise<void>;
  /** Removes the offer of a run under this term, best effort. An offer in delivery stays. */
  withdraw(stream: StreamRef, term: number): Promise<void>;
  /**
   * Delivers runs to this pod. `take` resolves once the pod owns the run, or knows that no pod needs to. When `take` rejects,
   * the run is delivered again, to any pod; after `pod_busy`, within a second.
   */
  consume(take: (stream: StreamRef) => Promise<void>): RunConsumer;
}
