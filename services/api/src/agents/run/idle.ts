/** Detects that a turn only waits on this pod, so that the pod may detach it. Detaching is done in `loop/turn-work.ts`. */

import type { Delivery } from '@parley/shared/domain/runs/run';

/**
 * Detects that no part of a turn is active on this pod: every part waits for a person, or for a delegate that is itself
 * detached. A pod detaches such a turn.
 */
export interface IdleDetection {
  /** Changes the number of active parts; a negative number reduces it. */
  addActive(parts: number): void;
  /** How long a turn must be idle before its pod detaches it, in ms. */
  readonly afterMs: number;
  /** A separate part, such as a call, that may wait for several answers at once. */
  part(): IdlePart;
  /** Reports that a part waits for a detached delegate. The turn may then be detached without further delay. */
  delegateDetached(): void;
  /** Reports that the delegate is active again or has ended. */
  delegateAttached(): void;
  /** Ends the detection. */
  stop(): void;
}

/** An active part of a turn. It is inactive while it waits for a person, unless it has other work to do. */
export interface IdlePart {
  /** Runs a wait for a person. Overlapping waits count as one. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** Marks the part as active until the returned function is called, even while it waits. */
  work(): () => void;
  /** Runs a pause in work that any pod may continue. The turn may then be detached without further delay. */
  rest<T>(pause: () => Promise<T>): Promise<T>;
}

// Longer than writing the events of a question takes.
const DETACH_MS = 100;

export interface IdleDeps {
  /** How long a pod keeps a turn that waits for its person, in ms. */
  readonly holdMs: number;
}

/** How long a turn must be idle before its pod detaches it, in ms. */
export function idleAfterMs({ holdMs }: IdleDeps, delivery: Delivery): number {
  return delivery === 'detach' ? DETACH_MS : holdMs;
}

/** Starts with one active part, the turn's own loop. Calls `onIdle` each time no part was active for `afterMs`. */
export function createIdleDetection(afterMs: number, onIdle: () => void): IdleDetection {
  let active = 1;
  /** The number of parts that need no pod: detached delegates and pauses. */
  let released = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function addActive(parts: number): void {
    active += parts;
    clearTimeout(timer);
    const isWaiting = active <= 0 && !stopped;
    timer = isWaiting ? setTimeout(onIdle, released > 0 ? DETACH_MS : afterMs).unref() : undefined;
  }

  return {
    addActive,
    afterMs,
    part() {
      let waits = 0;
      let works = 0;
      const change = (moreWaits: number, moreWorks: number) => {
        const wasActive = waits === 0 || works > 0;
        waits += moreWaits;
        works += moreWorks;
        const isActive = waits === 0 || works > 0;
        if (isActive !== wasActive) addActive(isActive ? 1 : -1);
      };
      return {
        async waiting(wait) {
          change(1, 0);
          try {
            return await wait();
          } finally {
            change(-1, 0);
          }
        },
        async rest(pause) {
          released += 1;
          change(1, -1);
          try {
            return await pause();
          } finally {
            released -= 1;
            change(-1, 1);
          }
        },
        work() {
          let isOver = false;
          change(0, 1);
          return () => {
            if (!isOver) change(0, -1);
            isOver = true;
          };
        },
      };
    },
    delegateDetached() {
      released += 1;
      addActive(-1);
    },
    delegateAttached() {
      released -= 1;
      addActive(1);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
