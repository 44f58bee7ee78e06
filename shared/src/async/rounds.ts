interface RepeatedRounds {
  /** One round. Ends early when the signal is aborted. */
  readonly round: (signal: AbortSignal) => Promise<unknown>;
  /** The time from the begin of one round to the begin of the next, in ms. The next round follows a longer round at once. */
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Repeats a round, never two at a time, until the returned function is called, which resolves when no round runs. The first
 * round begins at a random time within `everyMs`, so that processes that start together do not work together.
 */
export function startRounds({ round, everyMs, onError }: RepeatedRounds): () => Promise<void> {
  const stopped = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();

  function begin(): void {
    const begunAt = performance.now();
    underWay = round(stopped.signal)
      .then(() => undefined, onError)
      .then(() => next(begunAt + everyMs - performance.now()));
  }

  function next(inMs: number): void {
    if (stopped.signal.aborted) return;
    timer = setTimeout(begin, Math.max(0, inMs));
  }

  next(Math.random() * everyMs);
  return async () => {
    stopped.abort();
    clearTimeout(timer);
    await underWay;
  };
}
