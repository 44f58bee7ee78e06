interface RepeatedRounds {
  /** One round. It ends early when the signal is aborted. */
  readonly round: (signal: AbortSignal) => Promise<unknown>;
  /**
   * The time from the start of one round to the start of the next, in ms. After a longer round, the next one starts at once.
   */
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Repeats a round until the returned function is called. Rounds never overlap, and the returned function resolves once none is
 * running. The first round starts at a random time within `everyMs`, so that processes that start together do not work at the
 * same moments.
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
