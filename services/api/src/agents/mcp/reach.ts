import type { Left } from './calls/results.ts';
import type { Link } from './link.ts';
import type { ServerPlace } from './opener.ts';
import type { Pool } from './pool.ts';
import { type ExchangeBounds, type Exchanges, orFailed, startExchange } from './transports/exchange.ts';

/** What came of a request: its value, or what it threw and whether it may have left before. */
export type Reached<T> = { readonly value: T } | { readonly error: unknown; readonly left: Left };

/** Makes a request of a server, within bounds; rejects only when the caller aborts, with the signal's reason. */
export type Reach = <T>(
  place: ServerPlace,
  bounds: ExchangeBounds,
  /** To be ended by the signal. */
  work: (link: Link, signal: AbortSignal) => Promise<T>,
) => Promise<Reached<T>>;

/** A session that the server forgot is opened anew, once: the request was not looked at. */
export function createReach(pool: Pool<ServerPlace>, exchanges: Exchanges): Reach {
  return async (place, bounds, work) => {
    const exchange = startExchange(bounds);
    const run = async (link: Link) => ({
      value: await exchanges.run(exchange, () => work(link, exchange.signal)),
    });
    const runOrForget = async (link: Link) => {
      try {
        return await run(link);
      } catch (error) {
        if (!link.isExpired(error)) throw error;
        pool.retire(place, link);
        exchange.left = false;
        return undefined;
      }
    };
    try {
      const reached = await orFailed(exchange, pool.use(place, runOrForget));
      return reached ?? (await orFailed(exchange, pool.use(place, run)));
    } catch (error) {
      bounds.signal?.throwIfAborted();
      return { error, left: exchange.left ? 'maybe' : 'no' };
    } finally {
      exchange.end();
    }
  };
}
