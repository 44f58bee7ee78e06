import type { McpConnection } from './connection.ts';
import { SessionLost } from './errors.ts';
import type { Pool } from './pool.ts';
import type { Dispatched } from './results.ts';
import type { ServerTarget } from './target.ts';
import {
  type ExchangeBounds,
  type Exchanges,
  type RunningExchange,
  raceAbort,
  startExchange,
} from './transports/exchange.ts';

/** The value of a request; or its error, and whether the request may have reached the server. */
type RequestResult<T> = { readonly value: T } | { readonly error: unknown; readonly dispatched: Dispatched };

interface RequestBounds extends ExchangeBounds {
  /** Whether a second execution is harmless. Called after the request has failed. */
  readonly isRepeatable: () => boolean;
}

/** Makes a request to a server, within bounds. Rejects only when the caller aborts, with the signal's reason. */
export type SendRequest = <T>(
  target: ServerTarget,
  bounds: RequestBounds,
  /** The work must end when the signal of the exchange is aborted. */
  work: (connection: McpConnection, exchange: RunningExchange) => Promise<T>,
) => Promise<RequestResult<T>>;

/**
 * Makes the sender of requests. If the server no longer knows the session, the next request opens a new one. The failed request
 * is repeated there once, if the server has not executed it or its repetition is harmless.
 */
export function createRequestSender(pool: Pool<ServerTarget>, exchanges: Exchanges): SendRequest {
  return async (target, bounds, work) => {
    const exchange = startExchange(bounds);
    const run = async (connection: McpConnection) => ({
      value: await exchanges.run(exchange, () => work(connection, exchange)),
    });
    const runUnlessForgotten = async (connection: McpConnection) => {
      try {
        return await run(connection);
      } catch (error) {
        const fate = await connection.sessionAfter(error);
        if (fate === 'known') throw error;
        pool.retire(target, connection);
        if (fate === 'expired') exchange.dispatched = false;
        else if (!bounds.isRepeatable()) throw new SessionLost(error);
        return undefined;
      }
    };
    try {
      const result = await raceAbort(exchange, pool.use(target, runUnlessForgotten));
      return result ?? (await raceAbort(exchange, pool.use(target, run)));
    } catch (error) {
      bounds.signal?.throwIfAborted();
      return { error, dispatched: exchange.dispatched ? 'maybe' : 'no' };
    } finally {
      exchange.end();
    }
  };
}
