interface SweeperOptions {
  /** Executes one round. Ends early when the signal is aborted. */
  readonly sweep: (signal: AbortSignal) => Promise<unknown>;
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Repeats `sweep` until the returned function is called. The intervals are random, so that pods do not sweep together.
 */
export function startSweeper({ sweep, everyMs, onError }: SweeperOptions): () => Promise<void> {
  const stopped = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();

  function next(): void {
    if (stopped.signal.aborted) return;
    timer = setTimeout(
      () => {
        round = sweep(stopped.signal).then(() => undefined, onError);
        void round.then(next);
      },
      everyMs * (0.75 + Math.random() / 2),
    );
  }

  next();
  return async () => {
    stopped.abort();
    clearTimeout(timer);
    await round;
  };
}
