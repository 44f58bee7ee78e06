import type { StreamRef } from '../../domain/ids.ts';

/** Stops a pod from being handed runs. */
export interface RunConsumer {
  /** Takes no more. Safe to repeat. */
  close(): Promise<void>;
}

/**
 * Runs that wait for a pod to work on them. Each is handed over at least once; who then has it is decided by
 * `Runs.takeOver`, so that being handed one twice is harmless.
 */
export interface RunQueue {
  /** Queues a run as it stands under `term`; again, and it is queued once. Throws `unavailable`. */
  offer(stream: StreamRef, term: number): Promise<void>;
  /**
   * Lets this pod be handed runs. `take` resolves once the pod has the run or knows that nobody needs to; where it
   * rejects, the run is handed out again, to this pod or another one.
   */
  consume(take: (stream: StreamRef) => Promise<void>): RunConsumer;
}
