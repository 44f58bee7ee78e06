import type { FeedPosition, StreamEvent } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { StoredRecord } from './elicitations.ts';

export interface FeedEntry {
  readonly position: FeedPosition;
  /** Redis clock in ms at the append. */
  readonly at: number;
  readonly event: StreamEvent;
}

export type FeedPage =
  /** Nothing was appended to this stream request, or its retention ended. */
  | { readonly type: 'none' }
  /** The requested position is of another epoch, was trimmed, or was lost: read again from the start. */
  | { readonly type: 'reset' }
  /** Entries after the requested position, in order and without a gap. Empty when there is nothing newer. */
  | { readonly type: 'entries'; readonly entries: readonly FeedEntry[] };

/** The first entries of a feed, as they were read along with something else. */
export interface FeedBeginning {
  readonly entries: readonly FeedEntry[];
  /** True where no further entries follow. */
  readonly isWhole: boolean;
  /** Rows that entries are about, as far as they were read along: of those that are not here, nothing is known. */
  readonly records: ReadonlyMap<string, StoredRecord>;
  /** Redis clock in ms at the read. */
  readonly now: number;
}

/** What `readNewest` returns of a feed that is one list. */
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
  /** At most `limit` entries after the position `after`; from the start when it is undefined. */
  read(stream: StreamRef, after: FeedPosition | undefined, limit: number): Promise<FeedPage>;
  /** The newest entries before the position `before`, of all when it is undefined: at most `limit`, the newest first. */
  readNewest(stream: StreamRef, limit: number, before?: FeedPosition): Promise<readonly FeedEntry[]>;
}
