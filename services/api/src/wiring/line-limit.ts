// The maximum number of lines per minute that strangers can cause, because anybody can send any number of requests.
const LINES_MAX = 10;
const WINDOW_MS = 60_000;

/**
 * Limits log lines to ten a minute. Returns undefined for a line that must not be written, otherwise the number of lines
 * omitted since the last one. `clock` returns ms; only differences matter.
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
