import type { Dispatched } from './calls/results.ts';
import type { McpConnection } from './connection.ts';
import type { Pool } from './pool.ts';
import type { ServerTarget } from './target.ts';
import {
  type ExchangeBounds,
  type Exchanges,
  type RunningExchange,
  raceAbort,
  startExchange,
} from './transports/exchange.ts';

/** The value of a request, or its error and whether the request may have reached the server. */
export type RequestResult<T> =
  | { readonly value: T }
  | { readonly error: unknown; readonly dispatched: Dispatched };

/** Makes a request to a server, within bounds. Rejects only when the caller aborts, with the signal's reason. */
export type SendRequest = <T>(
  target: ServerTarget,
  bounds: ExchangeBounds,
  /** Must end when the signal of the exchange is aborted. */
  work: (connection: McpConnection, exchange: RunningExchange) => Promise<T>,
) => Promise<RequestResult<T>>;

/**
 * Makes the sender of requests. When the server may no longer know the session and has not executed the request, a new
 * session is opened and the request is repeated, once. Where it may have been executed, the next request opens one.
 */
export function createRequestSender(pool: Pool<ServerTarget>, exchanges: Exchanges): SendRequest {
  return async (target, bounds, work) => {
    const exchange = startExchange(bounds);
    const run = async (connection: McpConnection) => ({
      value: await exchanges.run(exchange, () => work(connection, exchange)),
    });
    const runUnlessExpired = async (connection: McpConnection) => {
      try {
        return await run(connection);
      } catch (error) {
        const fate = connection.sessionAfter(error);
        if (fate !== 'known') pool.retire(target, connection);
        if (fate !== 'expired') throw error;
        exchange.dispatched = false;
        return undefined;
      }
    };
    try {
      const result = await raceAbort(exchange, pool.use(target, runUnlessExpired));
      return result ?? (await raceAbort(exchange, pool.use(target, run)));
    } catch (error) {
      bounds.signal?.throwIfAborted();
      return { error, dispatched: exchange.dispatched ? 'maybe' : 'no' };
    } finally {
      exchange.end();
    }
  };
}
