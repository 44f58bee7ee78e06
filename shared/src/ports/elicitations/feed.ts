import type { FeedPosition, StreamEvent } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { StoredRecord } from './elicitations.ts';

export interface FeedEntry {
  readonly position: FeedPosition;
  /** When the entry was appended, in ms on the Redis clock. */
  readonly at: number;
  readonly event: StreamEvent;
}

export type FeedPage =
  /** The feed does not exist: nothing was appended, or its retention ended. */
  | { readonly type: 'none' }
  /** The requested position has another epoch, or its entries were trimmed or lost. The caller must read from the start. */
  | { readonly type: 'reset' }
  /** The entries after the requested position, in order and without gaps. Empty when there is nothing newer. */
  | { readonly type: 'entries'; readonly entries: readonly FeedEntry[] };

/** The first entries of a feed, read together with other data. */
export interface FeedBeginning {
  readonly entries: readonly FeedEntry[];
  /** True when no further entries follow. */
  readonly isWhole: boolean;
  /** Rows that the entries concern, if they were read too. A missing row may still exist. */
  readonly records: ReadonlyMap<string, StoredRecord>;
  /** The Redis clock in ms at the read. */
  readonly now: number;
}

/** Implements `readNewest` for a feed that is one list in memory. */
export function newestOf(
  entries: readonly FeedEntry[],
  limit: number,
  before: FeedPosition | undefined,
): readonly FeedEntry[] {
  const earlier =
    before === undefined ? entries : entries.filter(({ position }) => position.seq < before.seq);
  return earlier.slice(-limit).reverse();
}

/** The ordered, replayable events of stream requests. Each event is appended by the commit that causes it. */
export interface Feed {
  /** Reads at most `limit` entries after the position `after`; from the start when it is undefined. */
  read(stream: StreamRef, after: FeedPosition | undefined, limit: number): Promise<FeedPage>;
  /** Reads at most `limit` of the newest entries, newest first; with `before`, only entries before that position. */
  readNewest(stream: StreamRef, limit: number, before?: FeedPosition): Promise<readonly FeedEntry[]>;
}
