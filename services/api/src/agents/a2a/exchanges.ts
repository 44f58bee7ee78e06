import type { AsyncLocalStorage } from 'node:async_hooks';
import type { StreamResponse } from '@a2a-js/sdk';
import { type Exchange, raceAbort, startExchange } from '../mcp/transports/exchange.ts';
import { faultOf, type RemoteFault } from '../remote/faults.ts';

/** Events of a task, without their content. Readers get the content by reading the task. */
export interface EventStream {
  /** Calls `onEvent` for each event. Resolves when the stream has ended, for whatever reason. */
  read(onEvent: (type: 'artifact' | 'other') => void): Promise<void>;
  close(): void;
}

/**
 * The requests and streams of one agent, each in its own exchange. The methods throw RemoteFault and the reason of the signal.
 */
interface LinkExchanges {
  request<T>(timeoutMs: number, signal: AbortSignal, work: (ending: AbortSignal) => Promise<T>): Promise<T>;
  /** Streams the events of an SDK call. Call `first` before `read`. */
  stream(
    call: (ending: AbortSignal) => AsyncGenerator<unknown>,
    signal: AbortSignal,
  ): EventStream & { first(): Promise<StreamResponse | undefined> };
}

export interface LinkExchangeDeps {
  readonly exchanges: AsyncLocalStorage<Exchange>;
  /** Status of the last response to an exchange. */
  readonly statusOf: (exchange: Exchange) => number | undefined;
  readonly scrub: <T>(value: T) => T;
}

/** The time limit of a request. A reply may take as long as the task, whose own time limit ends it earlier. */
export const SEND_MS = 86_400_000;

export function createLinkExchanges({ exchanges, statusOf, scrub }: LinkExchangeDeps): LinkExchanges {
  /** A message that is too large ends its exchange, and the SDK's reader then fails with an arbitrary error. */
  function faultIn(exchange: Exchange, error: unknown): RemoteFault {
    const cause = exchange.signal.aborted ? exchange.signal.reason : error;
    return faultOf(cause, { dispatched: exchange.dispatched, status: statusOf(exchange), scrub });
  }

  return {
    async request(timeoutMs, signal, work) {
      signal.throwIfAborted();
      const exchange = startExchange({ timeoutMs, signal });
      try {
        return await raceAbort(
          exchange,
          exchanges.run(exchange, () => work(exchange.signal)),
        );
      } catch (error) {
        signal.throwIfAborted();
        throw faultIn(exchange, error);
      } finally {
        exchange.end();
      }
    },
    stream(call, signal) {
      const exchange = startExchange({ timeoutMs: SEND_MS, signal });
      const closing = new AbortController();
      const events = call(AbortSignal.any([exchange.signal, closing.signal]));
      const next = () => exchanges.run(exchange, () => raceAbort(exchange, events.next()));
      const close = () => {
        exchange.end();
        closing.abort();
      };
      return {
        async first() {
          try {
            const { value } = await next();
            return value as StreamResponse | undefined;
          } catch (error) {
            signal.throwIfAborted();
            throw faultIn(exchange, error);
          }
        },
        async read(onEvent) {
          try {
            for (let item = await next(); item.done !== true; item = await next()) {
              const { payload } = item.value as StreamResponse;
              onEvent(payload?.$case === 'artifactUpdate' ? 'artifact' : 'other');
            }
          } catch {
            // The reader gets whatever this stream missed by reading the task.
          } finally {
            close();
          }
        },
        close,
      };
    },
  };
}
