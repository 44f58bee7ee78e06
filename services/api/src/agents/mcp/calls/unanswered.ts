import type { Exchange } from '../transports/exchange.ts';

/** The requests on a connection that have no answer yet, with the exchanges they belong to. */
export interface Unanswered {
  /** Forgotten when it is answered, or when its exchange fails. */
  add(id: unknown, exchange: Exchange): void;
  /** The exchange of a request that had no answer until now. */
  take(id: unknown): Exchange | undefined;
  /** The exchange of the only one; nothing when there are none or several. */
  only(): Exchange | undefined;
}

export function createUnanswered(): Unanswered {
  const waiting = new Map<unknown, { exchange: Exchange; onAbort: () => void }>();

  const take = (id: unknown) => {
    const one = waiting.get(id);
    waiting.delete(id);
    one?.exchange.signal.removeEventListener('abort', one.onAbort);
    return one?.exchange;
  };

  return {
    add: (id, exchange) => {
      const onAbort = () => take(id);
      waiting.set(id, { exchange, onAbort });
      exchange.signal.addEventListener('abort', onAbort, { once: true });
    },
    take,
    only: () => {
      const [one] = waiting.values();
      return waiting.size === 1 ? one?.exchange : undefined;
    },
  };
}
