// Lines that strangers cause: anybody can send those, as many as they like.
const LINES_MAX = 10;
const WINDOW_MS = 60_000;

/**
 * Bounds lines of the log to ten a minute. Returns undefined for a line that is not written, else how many were left out
 * since the last one. `clock` is in ms; only differences matter.
 */
export function createLineLimit(clock: () => number = () => performance.now()): () => number | undefined {
  let windowEndsAt = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let suppressed = 0;
  return () => {
    const now = clock();
    if (now >= windowEndsAt) {
      windowEndsAt = now + WINDOW_MS;
      lines = 0;
    }
    lines += 1;
    if (lines > LINES_MAX) {
      suppressed += 1;
      return undefined;
    }
    const left = suppressed;
    suppressed = 0;
    return left;
  };
}
