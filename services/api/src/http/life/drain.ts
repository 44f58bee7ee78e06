// How many streams end in one turn of the event loop. Telling these readers when to return and disconnecting them takes less
// than 0.1 ms.
const ENDED_AT_ONCE = 50;

/** The view that a pod's streams and long polls have of its drain. A drain begins only once. */
export interface Drain {
  readonly hasBegun: boolean;
  /** The number of streams and long polls that the drain ends or would end. */
  readonly size: number;
  /** Calls `listener` when the drain begins. It must be called before that. */
  add(listener: () => void): void;
  remove(listener: () => void): void;
}

/**
 * A drain that `begin` starts. It is not an `AbortSignal`, because Node compares each new listener of a signal with all
 * existing ones, and a pod has thousands of streams.
 */
export function createDrain(): Drain & { begin(): void } {
  const listeners = new Set<() => void>();
  let sizeAtBegin: number | undefined;

  /** Ends some streams, and the rest in later turns of the event loop, because other calls are still under way. */
  function endSome(): void {
    let ended = 0;
    for (const listener of listeners) {
      if (ended === ENDED_AT_ONCE) return void setImmediate(endSome);
      ended += 1;
      listeners.delete(listener);
      listener();
    }
  }

  return {
    get hasBegun() {
      return sizeAtBegin !== undefined;
    },
    get size() {
      return sizeAtBegin ?? listeners.size;
    },
    add: (listener) => void listeners.add(listener),
    remove: (listener) => void listeners.delete(listener),
    begin() {
      if (sizeAtBegin !== undefined) return;
      sizeAtBegin = listeners.size;
      endSome();
    },
  };
}

/** For replies that end by themselves while the pod drains. */
export const NO_DRAIN: Drain = {
  hasBegun: false,
  size: 0,
  add: () => undefined,
  remove: () => undefined,
};
