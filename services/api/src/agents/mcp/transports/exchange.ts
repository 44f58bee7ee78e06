import type { AsyncLocalStorage } from 'node:async_hooks';
import { type JSONRPCMessage, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { whenAborted } from '@parley/shared/async/release-on-abort';
import { startWorkClock } from '@parley/shared/async/work-clock';
import type { McpLogMessage } from '../results.ts';
import { TASK_RESULT } from '../tasks-extension.ts';

/**
 * One request and all its traffic on the wire. The SDK does not expose which fetch belongs to which request, so the
 * exchange is passed in the asynchronous context.
 */
export interface Exchange {
  /** True if a part of the request may have reached the server. */
  dispatched: boolean;
  /** Receives the log messages on the request's stream. */
  onLog?: ((message: McpLogMessage) => void) | undefined;
  /** The reply that announces a task, which the SDK does not pass on. */
  created?: unknown;
  /** Aborted with the error given to `fail`. */
  readonly signal: AbortSignal;
  /** Ends the exchange with this error, unless it has already ended. The SDK passes only its own errors on unchanged. */
  fail(error: SdkError): void;
}

export type Exchanges = AsyncLocalStorage<Exchange>;

/** Limits of an exchange. */
export interface ExchangeBounds {
  readonly timeoutMs: number;
  /** The caller's signal. */
  readonly signal?: AbortSignal | undefined;
}

export interface RunningExchange extends Exchange {
  /** Runs a wait for a person. The timeout is paused during the wait. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** Stops the timeout. Must always be called. Later errors on the exchange's streams have no effect. */
  end(): void;
}

/** Starts an exchange and its timeout. */
export function startExchange({ timeoutMs, signal }: ExchangeBounds): RunningExchange {
  const ending = new AbortController();
  let isOver = false;
  const fail = (error: SdkError) => {
    if (!isOver) ending.abort(error);
  };
  const clock = startWorkClock(timeoutMs);
  clock.over.addEventListener('abort', () => fail(timedOut()), { once: true });
  const forget = whenAborted(signal, () =>
    fail(new SdkError(SdkErrorCode.ConnectionClosed, 'aborted by the caller')),
  );
  return {
    dispatched: false,
    signal: ending.signal,
    fail,
    waiting: clock.waiting,
    end: () => {
      isOver = true;
      clock.stop();
      forget();
    },
  };
}

/** Settles as `work` does, or rejects with the signal's reason if the signal is aborted first. */
export async function raceAbort<T>({ signal }: Pick<Exchange, 'signal'>, work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  let forget: () => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    forget = whenAborted(signal, () => reject(signal.reason));
  });
  return Promise.race([work, failed]).finally(forget);
}

/** Keeps a reply that the SDK does not pass on. */
export function keepCreated(exchange: Exchange | undefined, message: JSONRPCMessage): void {
  if (exchange !== undefined && 'result' in message && message.result.resultType === TASK_RESULT)
    exchange.created = message.result;
}

/** The connection ended before the reply. */
export function connectionLost(): SdkError {
  return new SdkError(SdkErrorCode.ConnectionClosed, 'ended without a reply');
}

function timedOut(): SdkError {
  return new SdkError(SdkErrorCode.RequestTimeout, 'timed out');
}
