import type { Exchange } from './exchange.ts';

/** The requests of a connection that have no reply yet, with their exchanges. */
interface PendingMcpRequests {
  /** Adds a request. It is removed by `take`, or when its exchange fails. */
  add(id: unknown, exchange: Exchange): void;
  /** Removes a request that has been answered, and returns its exchange. */
  take(id: unknown): Exchange | undefined;
  /** The exchange of the only pending request. Undefined if there is none or more than one. */
  only(): Exchange | undefined;
}

export function createPendingRequests(): PendingMcpRequests {
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
