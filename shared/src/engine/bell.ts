/** Rouses one sleeper. Rings that come while it is awake are kept for its next sleep. */
export interface Bell {
  ring(): void;
  /** Sleeps until a ring, or until `at` (on performance.now()). Throws the signal's reason when aborted. */
  heard(at: number): Promise<'ring' | 'time'>;
  /** Lets go of timer and signal. */
  close(): void;
}

// setTimeout fires at once beyond 2^31-1 ms; waking early only costs one more look.
const SLEEP_MS_MAX = 0x7fffffff;

/** Makes a bell for one sleeper, cut short by `signal`. */
export function createBell(signal: AbortSignal | undefined): Bell {
  let rung = signal?.aborted === true;
  let rouse: (() => void) | undefined;
  const ring = () => {
    rung = true;
    rouse?.();
  };
  signal?.addEventListener('abort', ring);
  return {
    ring,
    async heard(at) {
      const sleepMs = Math.min(at - performance.now(), SLEEP_MS_MAX);
      if (!rung && sleepMs > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.ceil(sleepMs));
          rouse = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        rouse = undefined;
      }
      signal?.throwIfAborted();
      const heard = rung ? 'ring' : 'time';
      rung = false;
      return heard;
    },
    close() {
      signal?.removeEventListener('abort', ring);
      rouse?.();
    },
  };
}
