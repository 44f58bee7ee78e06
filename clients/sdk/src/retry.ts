import { ParleyClientError } from './errors.ts';

/** How the client rides out trouble. Every time is in milliseconds unless its name says seconds. */
export interface RetryOptions {
  /** How long a call is tried before it fails; waiting for an outcome and reading events have their own ends. @default 30000 */
  readonly giveUpMs?: number;
  /** Pause before the second try; it doubles from try to try, with jitter. @default 200 */
  readonly firstDelayMs?: number;
  /** Longest pause between two tries. @default 5000 */
  readonly delayMsMax?: number;
  /** How long one try may go without its reply. @default 15000 */
  readonly attemptMs?: number;
  /** How long after the deadline an outcome may still come before the waiting fails. @default 10000 */
  readonly graceMs?: number;
  /** Length of one long poll, at most 60; keep it below what proxies on the way cut off. @default 25 */
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

// A proxy's page may name an hour; whoever waits for a person would not know that anything is wrong.
const ASKED_MS_MAX = 60_000;

/** Pauses that grow, with jitter so that many clients do not come back at the same instant. */
export interface Backoff {
  /** The next pause in ms; never shorter than what the server asked for, up to a minute. */
  next(retryAfterSeconds?: number): number;
  /** Things went well: the next trouble begins with the first pause again. */
  reset(): void;
  /** Changes the first pause. */
  startFrom(firstDelayMs: number): void;
}

export function createBackoff(settings: Pick<RetrySettings, 'firstDelayMs' | 'delayMsMax'>): Backoff {
  let first = settings.firstDelayMs;
  let tries = 0;
  return {
    next(retryAfterSeconds = 0) {
      const fullMs = Math.min(first * 2 ** tries, Math.max(first, settings.delayMsMax));
      tries += 1;
      return (
        Math.max(fullMs / 2, Math.min(retryAfterSeconds * 1_000, ASKED_MS_MAX)) + (Math.random() * fullMs) / 2
      );
    },
    reset() {
      tries = 0;
    },
    startFrom(firstDelayMs) {
      first = firstDelayMs;
    },
  };
}

/** Resolves after `ms`; rejects with the signal's reason when aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return within(Number.POSITIVE_INFINITY, signal, (cut) => {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      cut.addEventListener('abort', () => clearTimeout(timer));
    });
  });
}

/**
 * Runs something that may hang. Rejects with `unavailable` after `timeoutMs`, or with the reason of `outer`, whichever
 * comes first; the signal that `run` gets is aborted then, and `run` is not waited for.
 */
export async function within<T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: () => void = () => undefined;
  const cut = new Promise<never>((_, reject) => {
    const end = (reason: unknown) => {
      reject(reason);
      controller.abort(reason);
    };
    onAbort = () => end(outer?.reason);
    outer?.addEventListener('abort', onAbort);
    if (timeoutMs === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(
      () => end(new ParleyClientError('unavailable', `Nothing came within ${Math.ceil(timeoutMs)} ms.`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([run(controller.signal), cut]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', onAbort);
  }
}
