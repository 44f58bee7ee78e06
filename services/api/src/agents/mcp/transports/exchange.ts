import type { AsyncLocalStorage } from 'node:async_hooks';
import { SdkError, SdkErrorCode } from '@modelcontextprotocol/client';

/**
 * One request and whatever it takes on the wire. The SDK does not tell which fetch belongs to which request, so it
 * travels in the asynchronous context.
 */
export interface Exchange {
  /** Whether a byte of it may have reached the server. */
  left: boolean;
  /** Aborted with the error of `fail`. */
  readonly signal: AbortSignal;
  /** Ends it with this error, unless it has an answer. The SDK hands on only its own kind unchanged. */
  fail(error: SdkError): void;
}

export type Exchanges = AsyncLocalStorage<Exchange>;

/** What an exchange may take. */
export interface ExchangeBounds {
  readonly timeoutMs: number;
  /** The caller's own. */
  readonly signal?: AbortSignal | undefined;
}

export interface RunningExchange extends Exchange {
  /** Stops the clock; to be called in any case. What its streams do afterwards fails nothing any more. */
  end(): void;
}

/** Starts the clock of an exchange. */
export function startExchange({ timeoutMs, signal }: ExchangeBounds): RunningExchange {
  const ending = new AbortController();
  let isOver = false;
  const fail = (error: SdkError) => {
    if (!isOver) ending.abort(error);
  };
  const timer = setTimeout(() => fail(timedOut()), timeoutMs);
  const onAbort = () => fail(new SdkError(SdkErrorCode.ConnectionClosed, 'aborted by the caller'));
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    left: false,
    signal: ending.signal,
    fail,
    end: () => {
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** `work`, or the reason of the signal if that is aborted first. */
export async function orFailed<T>({ signal }: Pick<Exchange, 'signal'>, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  let onAbort: () => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, failed]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** The answer will not come any more: what carried it ended. */
export function answerLost(): SdkError {
  return new SdkError(SdkErrorCode.ConnectionClosed, 'ended without an answer');
}

function timedOut(): SdkError {
  return new SdkError(SdkErrorCode.RequestTimeout, 'timed out');
}
