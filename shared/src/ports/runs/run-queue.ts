import type { StreamRef } from '@parley/core/domain/ids';

/** Delivery of runs to a pod. */
export interface RunConsumer {
  /** Has runs wait for other pods, until `resume`. A delivery that is under way may still come. */
  pause(): void;
  resume(): void;
  /** Ends the delivery. Safe to repeat. */
  close(): Promise<void>;
}

/**
 * Runs that wait for a pod. Each is delivered at least once; `Runs.takeOver` decides which pod owns it, so that a second
 * delivery is harmless.
 */
export interface RunQueue {
  /** Queues a run under its current term; a repeated offer of the same term queues it once. Throws `unavailable`. */
  offer(stream: StreamRef, term: number): Promise<void>;
  /** Removes the offer of a run under this term, best effort. One that is being delivered stays. */
  withdraw(stream: StreamRef, term: number): Promise<void>;
  /**
   * Delivers runs to this pod. `take` resolves once the pod owns the run or knows that no pod needs to; where it rejects,
   * the run is delivered again, to this pod or another one: within a second where it rejects with `pod_busy`.
   */
  consume(take: (stream: StreamRef) => Promise<void>): RunConsumer;
}
