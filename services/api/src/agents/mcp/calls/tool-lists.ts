import { LRUCache } from 'lru-cache';
import type { LinkPlace } from '../pool.ts';
import type { McpOffer, McpToolList } from './results.ts';

/** What servers offered, per credential: a server may show each user other tools. */
export interface ToolLists<P extends LinkPlace> {
  /** From the cache, or fetched; those who ask at the same time share one fetch. */
  get(place: P): Promise<McpToolList>;
  /** Only from the cache. */
  known(place: P): McpOffer | undefined;
  /** The list changed: what is cached, or on its way, is not used any more. */
  forget(place: P): void;
}

const LISTS_MAX = 500;

export function createToolLists<P extends LinkPlace>(
  ttlMs: number,
  fetchList: (place: P) => Promise<McpToolList>,
): ToolLists<P> {
  const offers = new LRUCache<string, McpOffer>({ max: LISTS_MAX, ttl: ttlMs });
  const underWay = new Map<string, Promise<McpToolList>>();

  async function fetch(place: P, isCurrent: () => boolean): Promise<McpToolList> {
    try {
      const list = await fetchList(place);
      if (isCurrent() && list.type === 'tools') offers.set(place.fingerprint, list);
      return list;
    } finally {
      if (isCurrent()) underWay.delete(place.fingerprint);
    }
  }

  return {
    get: async (place) => {
      const known = offers.get(place.fingerprint) ?? underWay.get(place.fingerprint);
      if (known !== undefined) return known;
      const fetching: Promise<McpToolList> = fetch(place, () => underWay.get(place.fingerprint) === fetching);
      underWay.set(place.fingerprint, fetching);
      return fetching;
    },
    known: (place) => offers.get(place.fingerprint),
    forget: ({ fingerprint }) => {
      offers.delete(fingerprint);
      underWay.delete(fingerprint);
    },
  };
}
