import type { Engine } from '@parley/shared/engine/engine';

export interface SweeperOptions {
  readonly engine: Pick<Engine, 'sweep'>;
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
}

/** Sweeps the deadline index for as long as the pod lives; pods drift apart on purpose. Returns how to stop it. */
export function startSweeper({ engine, everyMs, onError }: SweeperOptions): () => Promise<void> {
  const stopped = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();

  function next(): void {
    if (stopped.signal.aborted) return;
    timer = setTimeout(
      () => {
        round = engine.sweep(stopped.signal).then(() => undefined, onError);
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
