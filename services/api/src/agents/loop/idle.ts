import type { Delivery } from '@parley/shared/domain/runs/run';

/** Knows whether anything in a turn works on this pod, or all that is under way waits for people. */
export interface Rest {
  /** So many more (or, below zero, fewer) parts of the turn are at work. */
  add(parts: number): void;
  /** Runs a part's wait for a person: while it lasts, that part is not at work. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** A part is with a delegate that no pod holds: it is not at work, and the wait was long enough already. */
  goAway(): void;
  /** That delegate works again, or is done. */
  comeBack(): void;
  /** Nobody is told of a rest any more. */
  stop(): void;
}

// Longer than it takes to tell what was asked.
const DETACH_MS = 100;

export interface RestDeps {
  /** How long a pod holds a turn that waits for its person, in ms. */
  readonly holdMs: number;
}

/** How long all of a turn is to wait until its pod lets go of it, in ms. */
export function restMs({ holdMs }: RestDeps, delivery: Delivery): number {
  return delivery === 'detach' ? DETACH_MS : holdMs;
}

/** Starts with one part at work, the turn's own loop. `onRest` runs each time that nothing has worked for `afterMs`. */
export function createRest(afterMs: number, onRest: () => void): Rest {
  let working = 1;
  let away = 0;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function add(parts: number): void {
    working += parts;
    clearTimeout(timer);
    timer = working > 0 || stopped ? undefined : setTimeout(onRest, away > 0 ? DETACH_MS : afterMs).unref();
  }

  return {
    add,
    async waiting(wait) {
      add(-1);
      try {
        return await wait();
      } finally {
        add(1);
      }
    },
    goAway() {
      away += 1;
      add(-1);
    },
    comeBack() {
      away -= 1;
      add(1);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
