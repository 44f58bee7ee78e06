import { LRUCache } from 'lru-cache';
import type { ConnectionTarget } from '../pool.ts';
import type { McpOffer, McpToolList } from './results.ts';

/** The tools of servers, cached per credential: a server may offer each user different tools. */
export interface ToolLists<P extends ConnectionTarget> {
  /** From the cache, or fetched. Concurrent callers share one fetch. */
  get(target: P): Promise<McpToolList>;
  /** Only from the cache. */
  cached(target: P): McpOffer | undefined;
  /** Drops the cached list. The result of a fetch under way is not cached. */
  invalidate(target: P): void;
}

const LISTS_MAX = 500;

export function createToolLists<P extends ConnectionTarget>(
  ttlMs: number,
  fetchList: (target: P) => Promise<McpToolList>,
): ToolLists<P> {
  const offers = new LRUCache<string, McpOffer>({ max: LISTS_MAX, ttl: ttlMs });
  const inFlight = new Map<string, Promise<McpToolList>>();

  async function fetch(target: P, isCurrent: () => boolean): Promise<McpToolList> {
    try {
      const list = await fetchList(target);
      if (isCurrent() && list.type === 'tools') offers.set(target.fingerprint, list);
      return list;
    } finally {
      if (isCurrent()) inFlight.delete(target.fingerprint);
    }
  }

  return {
    get: async (target) => {
      const known = offers.get(target.fingerprint) ?? inFlight.get(target.fingerprint);
      if (known !== undefined) return known;
      const fetching: Promise<McpToolList> = fetch(
        target,
        () => inFlight.get(target.fingerprint) === fetching,
      );
      inFlight.set(target.fingerprint, fetching);
      return fetching;
    },
    cached: (target) => offers.get(target.fingerprint),
    invalidate: ({ fingerprint }) => {
      offers.delete(fingerprint);
      inFlight.delete(fingerprint);
    },
  };
}
