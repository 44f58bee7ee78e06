/** A minute is as long as a person may be left without another try, whatever a proxy asks for. */
const ASKED_MS_MAX = 60_000;

/** Pauses that grow from try to try, with jitter, so that many pages do not come back at the same instant. */
export interface Pauses {
  /** The next pause in ms; never shorter than what the server asked for, up to a minute. */
  next(retryAfterSeconds?: number): number;
  /** Things went well: the next trouble begins with the first pause again. */
  reset(): void;
}

export function createPauses([first, longest]: readonly [first: number, longest: number]): Pauses {
  let tries = 0;
  return {
    next(retryAfterSeconds = 0) {
      const fullMs = Math.min(first * 2 ** tries, longest);
      tries += 1;
      const askedMs = Math.min(retryAfterSeconds * 1_000, ASKED_MS_MAX);
      return Math.max(fullMs / 2, askedMs) + (Math.random() * fullMs) / 2;
    },
    reset() {
      tries = 0;
    },
  };
}

/** Resolves after `ms`, or as soon as the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
