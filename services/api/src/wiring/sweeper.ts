export interface SweeperOptions {
  /** One round; ends early when the signal does. */
  readonly sweep: (signal: AbortSignal) => Promise<unknown>;
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

/** Sweeps again and again for as long as the pod lives; pods drift apart on purpose. Returns how to stop it. */
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
