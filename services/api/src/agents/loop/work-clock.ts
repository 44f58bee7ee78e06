/** Time that a turn works, which is not the time that it waits for people. */
export interface WorkClock {
  /** True while the clock stands still. */
  readonly isWaiting: boolean;
  /** Runs a wait for a person; the clock stands still while any is under way. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** How long the turn has worked, in ms. */
  readonly workedMs: number;
  /** Aborted when the turn has worked for as long as it may. */
  readonly over: AbortSignal;
  /** Ends the clock; it will not run out any more. */
  stop(): void;
}

/** Starts a clock that runs out after `limitMs` of work, of which `workedMs` are over. `outer` stands still with it. */
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
