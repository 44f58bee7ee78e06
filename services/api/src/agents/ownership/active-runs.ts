import type { StreamRef } from '@parley/shared/domain/ids';
import { RunInterruptedError } from '@parley/shared/runs/interruption';

/** The work of one pod on runs, by their stream requests. */
export interface Here {
  /**
   * Knows the run as this pod's until the work is done; then gives its outcome. Several may work on one: a repeat of a
   * request comes while the first one works.
   */
  hold<T>(stream: StreamRef, stopping: AbortController, work: Promise<T>): Promise<T>;
  has(streamRequestId: string): boolean;
  /** Stops the work on a run; `reason` is RunInterruptedError where it is the pod that stops. */
  stop(streamRequestId: string, reason?: RunInterruptedError): void;
  /** Interrupts all work, and resolves once it is done. */
  close(): Promise<void>;
}

interface Held {
  readonly stopping: AbortController;
  readonly done: Promise<unknown>;
}

/** Makes the list of what a pod works on. */
export function createHere(): Here {
  const here = new Map<string, Set<Held>>();

  function leave(streamRequestId: string, entry: Held): void {
    const entries = here.get(streamRequestId);
    entries?.delete(entry);
    if (entries?.size === 0) here.delete(streamRequestId);
  }

  return {
    hold({ streamRequestId }, stopping, work) {
      const done = work.then((outcome) => {
        leave(streamRequestId, entry);
        return outcome;
      });
      const entry = { stopping, done };
      here.set(streamRequestId, (here.get(streamRequestId) ?? new Set<Held>()).add(entry));
      return done;
    },
    has: (streamRequestId) => here.has(streamRequestId),
    stop(streamRequestId, reason) {
      for (const { stopping } of here.get(streamRequestId) ?? []) stopping.abort(reason);
    },
    async close() {
      const all = [...here.values()].flatMap((entries) => [...entries]);
      for (const { stopping } of all) stopping.abort(new RunInterruptedError());
      await Promise.all(all.map(({ done }) => done));
    },
  };
}
