/** Measures the time for which a turn works. Waits for people do not count. */
export interface WorkClock {
  /** True while the clock is paused. */
  readonly isWaiting: boolean;
  /** Runs a wait for a person. The clock is paused while any wait is under way. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** Working time so far, in ms. */
  readonly workedMs: number;
  /** Aborted when the working time is used up. */
  readonly over: AbortSignal;
  /** Stops the clock. `over` will not be aborted any more. */
  stop(): void;
}

/** Starts a clock that expires after `limitMs` of work, of which `workedMs` have passed. `outer` is paused with it. */
export function startWorkClock(limitMs: number, workedMs = 0, outer?: WorkClock): WorkClock {
  const over = new AbortController();
  let leftMs = Math.max(0, limitMs - workedMs);
  let startedAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let waits = 0;
  let stopped = false;

  function run(): void {
    startedAt = performance.now();
    timer = setTimeout(() => over.abort(), leftMs).unref();
  }

  function pause(): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timer = undefined;
    leftMs = Math.max(0, leftMs - (performance.now() - startedAt));
  }

  async function waiting<T>(wait: () => Promise<T>): Promise<T> {
    if (waits === 0) pause();
    waits += 1;
    try {
      return await wait();
    } finally {
      waits -= 1;
      if (waits === 0 && !stopped && !over.signal.aborted) run();
    }
  }

  run();
  return {
    over: over.signal,
    get workedMs() {
      return limitMs - leftMs + (timer === undefined ? 0 : performance.now() - startedAt);
    },
    get isWaiting() {
      return waits > 0;
    },
    stop() {
      stopped = true;
      pause();
    },
    waiting: (wait) => (outer === undefined ? waiting(wait) : outer.waiting(() => waiting(wait))),
  };
}
