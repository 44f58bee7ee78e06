/** How a client retries. Every time is in milliseconds unless its name says seconds. */
export interface RetryOptions {
  /**
   * How long a call is retried before it fails. Waiting for an outcome and reading events have their own limits.
   * @default 30000
   */
  readonly giveUpMs?: number;
  /** The delay before the second try. It doubles with each try, with jitter. @default 200 */
  readonly firstDelayMs?: number;
  /** The longest delay between two tries. @default 5000 */
  readonly delayMsMax?: number;
  /** How long one try may wait for its reply. @default 15000 */
  readonly attemptMs?: number;
  /** How long after the deadline an outcome may still come before waiting fails. @default 10000 */
  readonly graceMs?: number;
  /** The length of one long poll, at most 60. Keep it below the idle time-out of your proxies. @default 25 */
  readonly pollSeconds?: number;
}

export type RetrySettings = Required<RetryOptions>;

export const RETRY_DEFAULTS: RetrySettings = {
  giveUpMs: 30_000,
  firstDelayMs: 200,
  delayMsMax: 5_000,
  attemptMs: 15_000,
  graceMs: 10_000,
  pollSeconds: 25,
};

/** The longest Retry-After that is respected, because the error page of a proxy may ask for an hour. */
const RETRY_AFTER_MS_MAX = 60_000;

type BackoffSettings = Pick<RetrySettings, 'firstDelayMs' | 'delayMsMax'>;

/** Exponential back-off with jitter, so that many clients do not return at the same instant. */
interface Backoff {
  /** The next delay in ms. It is never shorter than `retryAfterSeconds`, up to a minute. */
  nextDelayMs(retryAfterSeconds?: number): number;
  /** Starts again with the first delay, after a success. */
  reset(): void;
  /** Changes the first delay. */
  setFirstDelayMs(firstDelayMs: number): void;
}

export function createBackoff({ firstDelayMs, delayMsMax }: BackoffSettings): Backoff {
  let first = firstDelayMs;
  let tries = 0;
  return {
    nextDelayMs(retryAfterSeconds = 0) {
      const fullMs = Math.min(first * 2 ** tries, Math.max(first, delayMsMax));
      tries += 1;
      const requestedMs = Math.min(retryAfterSeconds * 1_000, RETRY_AFTER_MS_MAX);
      return Math.max(fullMs / 2, requestedMs) + (Math.random() * fullMs) / 2;
    },
    reset() {
      tries = 0;
    },
    setFirstDelayMs(ms) {
      first = ms;
    },
  };
}

/** A back-off that ends `giveUpMs` after the first failure since the last success. */
export interface RetryBudget extends Omit<Backoff, 'nextDelayMs'> {
  /** The next delay in ms; undefined if it would end after the budget. */
  nextDelayMs(retryAfterSeconds?: number): number | undefined;
}

export function createRetryBudget(settings: BackoffSettings & Pick<RetrySettings, 'giveUpMs'>): RetryBudget {
  const backoff = createBackoff(settings);
  let failingSince: number | undefined;
  return {
    nextDelayMs(retryAfterSeconds) {
      const now = performance.now();
      failingSince ??= now;
      const delayMs = backoff.nextDelayMs(retryAfterSeconds);
      return now + delayMs - failingSince >= settings.giveUpMs ? undefined : delayMs;
    },
    reset() {
      failingSince = undefined;
      backoff.reset();
    },
    setFirstDelayMs: backoff.setFirstDelayMs,
  };
}
