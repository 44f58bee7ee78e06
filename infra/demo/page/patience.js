const FIRST_MS = 500;
const LONGEST_MS = 8_000;
const GIVE_UP_MS = 60_000;

/**
 * How long to wait before each try, in ms: at random up to a limit that doubles, so that many pages do not come back at
 * the same instant, and after what the server asked for.
 */
export function createPatience() {
  let tries = 0;
  let since;

  return {
    /** The next pause; nothing when it is time to give up. */
    next(retryAfterMs = 0) {
      since ??= Date.now();
      const ms = retryAfterMs + Math.random() * Math.min(FIRST_MS * 2 ** tries, LONGEST_MS);
      tries += 1;
      return Date.now() + ms - since > GIVE_UP_MS ? undefined : ms;
    },

    /** Things went well: the next trouble begins with the first pause again. */
    reset() {
      tries = 0;
      since = undefined;
    },
  };
}

/** Resolves after that time, or as soon as the signal is aborted, if there is one. */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
