import { ParleyClientError } from './errors.ts';

/** Resolves after `ms`. Rejects with the signal's reason when it is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return withTimeout(Number.POSITIVE_INFINITY, signal, (aborted) => {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      aborted.addEventListener('abort', () => clearTimeout(timer));
    });
  });
}

/**
 * Runs something that may hang. Rejects with `unavailable` after `timeoutMs`, or with the reason of `signal`, whichever comes
 * first. Then the signal passed to `run` is aborted, and its result is ignored.
 */
export async function withTimeout<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const abort = (reason: unknown) => {
      reject(reason);
      controller.abort(reason);
    };
    onAbort = () => abort(signal?.reason);
    signal?.addEventListener('abort', onAbort);
    if (timeoutMs === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(
      () => abort(new ParleyClientError('unavailable', `Nothing came within ${Math.ceil(timeoutMs)} ms.`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([run(controller.signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
