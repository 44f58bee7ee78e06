import type { Delivery } from '@parley/shared/domain/runs/run';

/**
 * Detects that no part of a turn is active on this pod: every part waits for a person, or for a delegate that is
 * detached itself. A pod detaches such a turn.
 */
export interface IdleDetection {
  /** Adds to the number of active parts; a negative number removes. */
  addActive(parts: number): void;
  /** Runs one part's wait for a person. The part is not active meanwhile. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** A part waits for a delegate that was detached. The turn may then be detached without further delay. */
  delegateDetached(): void;
  /** That delegate is active again, or has ended. */
  delegateAttached(): void;
  /** Ends the detection. */
  stop(): void;
}

// Longer than it takes to write the events of a question.
const DETACH_MS = 100;

export interface IdleDeps {
  /** How long a pod keeps a turn that waits for its person, in ms. */
  readonly holdMs: number;
}

/** How long a turn must be idle until its pod detaches it, in ms. */
export function idleAfterMs({ holdMs }: IdleDeps, delivery: Delivery): number {
  return delivery === 'detach' ? DETACH_MS : holdMs;
}

/** Starts with one active part, the turn's own loop. Calls `onIdle` each time that no part was active for `afterMs`. */
export function createIdleDetection(afterMs: number, onIdle: () => void): IdleDetection {
  let active = 1;
  let detachedDelegates = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function addActive(parts: number): void {
    active += parts;
    clearTimeout(timer);
    const isWaiting = active <= 0 && !stopped;
    timer = isWaiting ? setTimeout(onIdle, detachedDelegates > 0 ? DETACH_MS : afterMs).unref() : undefined;
  }

  return {
    addActive,
    async waiting(wait) {
      addActive(-1);
      try {
        return await wait();
      } finally {
        addActive(1);
      }
    },
    delegateDetached() {
      detachedDelegates += 1;
      addActive(-1);
    },
    delegateAttached() {
      detachedDelegates -= 1;
      addActive(1);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
