import { LRUCache } from 'lru-cache';
import type { McpOffer, McpToolList } from '../results.ts';

/** The key of a list of tools. */
interface Listed {
  readonly listKey: string;
}

/** The tools of servers, cached per credential: a server may offer each user different tools. */
export interface ToolLists<P extends Listed> {
  /** The list from the cache, or fetched. Concurrent callers share one fetch. */
  get(target: P): Promise<McpToolList>;
  /** The list if it is cached. */
  cached(target: P): McpOffer | undefined;
  /** Drops the cached list. The result of a fetch that is under way is not cached. */
  invalidate(target: P): void;
}

const LISTS_MAX = 500;

export function createToolLists<P extends Listed>(
  ttlMs: number,
  fetchList: (target: P) => Promise<McpToolList>,
): ToolLists<P> {
  const offers = new LRUCache<string, McpOffer>({ max: LISTS_MAX, ttl: ttlMs });
  const inFlight = new Map<string, Promise<McpToolList>>();

  async function fetch(target: P, isCurrent: () => boolean): Promise<McpToolList> {
    try {
      const list = await fetchList(target);
      if (isCurrent() && list.type === 'tools') offers.set(target.listKey, list);
      return list;
    } finally {
      if (isCurrent()) inFlight.delete(target.listKey);
    }
  }

  return {
    get: async (target) => {
      const known = offers.get(target.listKey) ?? inFlight.get(target.listKey);
      if (known !== undefined) return known;
      const fetching: Promise<McpToolList> = fetch(target, () => inFlight.get(target.listKey) === fetching);
      inFlight.set(target.listKey, fetching);
      return fetching;
    },
    cached: (target) => offers.get(target.listKey),
    invalidate: ({ listKey }) => {
      offers.delete(listKey);
      inFlight.delete(listKey);
    },
  };
}
