/** What a pod's streams and long polls know of its drain, which begins once. */
export interface Drain {
  readonly hasBegun: boolean;
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
  let hasBegun = false;
  return {
    get hasBegun() {
      return hasBegun;
    },
    add: (listener) => void listeners.add(listener),
    remove: (listener) => void listeners.delete(listener),
    begin() {
      if (hasBegun) return;
      hasBegun = true;
      for (const listener of listeners) listener();
      listeners.clear();
    },
  };
}

/** Of replies that end by themselves while the pod drains. */
export const NO_DRAIN: Drain = { hasBegun: false, add: () => undefined, remove: () => undefined };
