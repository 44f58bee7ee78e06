// A pod refuses by itself for this long, and then asks Redis again: another pod, or an operator, may have reset the budget.
const REFUSED_ALONE_MS = 10_000;
// Beyond this many the oldest are dropped.
const REFUSALS_MAX = 10_000;

/**
 * The budgets that this pod knows as used up. Redis grants nothing of them before their windows end, so a refused call
 * costs no round trip. Times are those of `performance.now()`.
 */
export interface Refusals {
  /** When the window of a used-up budget ends; undefined where Redis must be asked. */
  find(key: string): number | undefined;
  /** Notes that a call sent to Redis at `sentAt` found the budget used up for `leftMs`. */
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
      // Counted from before the call, so that the pod does not refuse for longer than Redis would.
      ends.set(key, { until: sentAt + leftMs, askAgainAt: sentAt + Math.min(leftMs, REFUSED_ALONE_MS) });
      const [oldest] = ends.keys();
      if (ends.size > REFUSALS_MAX && oldest !== undefined) ends.delete(oldest);
    },
    remove: (key) => void ends.delete(key),
  };
}
