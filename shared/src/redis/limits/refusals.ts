// A pod refuses on its own for this long, and then asks Redis again, because another pod or an operator may have reset the
// budget.
const REFUSED_ALONE_MS = 10_000;
// Beyond this number, the oldest entries are dropped.
const REFUSALS_MAX = 10_000;

/**
 * The budgets that this pod knows to be used up. Redis would grant nothing from them until their windows end, so refusing a
 * call costs no round trip. Times are those of `performance.now()`.
 */
export interface Refusals {
  /** When the window of a used-up budget ends; undefined when Redis must be asked. */
  find(key: string): number | undefined;
  /** Records that a call sent to Redis at `sentAt` found the budget used up for `leftMs`. */
  add(key: string, sentAt: number, leftMs: number): void;
  remove(key: string): void;
}

export function createRefusals(): Refusals {
  const ends = new Map<string, { readonly until: number; readonly askAgainAt: number }>();
  return {
    find(key) {
      const end = ends.get(key);
      if (end === undefined) return undefined;
      if (performance.now() < end.askAgainAt) return end.until;
      ends.delete(key);
      return undefined;
    },
    add(key, sentAt, leftMs) {
      ends.delete(key);
      // The time counts from before the call, so that the pod never refuses for longer than Redis would.
      ends.set(key, { until: sentAt + leftMs, askAgainAt: sentAt + Math.min(leftMs, REFUSED_ALONE_MS) });
      const [oldest] = ends.keys();
      if (ends.size > REFUSALS_MAX && oldest !== undefined) ends.delete(oldest);
    },
    remove: (key) => void ends.delete(key),
  };
}
