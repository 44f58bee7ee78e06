// A reader is told when to come back and disconnected, in less than 0.1 ms.
const ENDED_AT_ONCE = 50;

/** What a pod's streams and long polls know of its drain, which begins once. */
export interface Drain {
  readonly hasBegun: boolean;
  /** How many streams and long polls the drain ends or would end. */
  readonly size: number;
  /** Calls `listener` when the drain begins, which is not before this call. */
  add(listener: () => void): void;
  remove(listener: () => void): void;
}

/**
 * A drain that `begin` starts. It is no `AbortSignal`: Node compares each listener that is added to one with all that it has,
 * and a pod has thousands of streams.
 */
export function createDrain(): Drain & { begin(): void } {
  const listeners = new Set<() => void>();
  let sizeAtBegin: number | undefined;

  /** Ends some, and the others in later turns of the event loop: calls are still under way. */
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

/** Of replies that end by themselves while the pod drains. */
export const NO_DRAIN: Drain = {
  hasBegun: false,
  size: 0,
  add: () => undefined,
  remove: () => undefined,
};
