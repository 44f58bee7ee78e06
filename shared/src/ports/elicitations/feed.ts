import type { FeedPosition, StreamEvent } from '../../domain/events.ts';
import type { StreamRef } from '../../domain/ids.ts';

export interface FeedEntry {
  readonly position: FeedPosition;
  /** Redis clock in ms at the append. */
  readonly at: number;
  readonly event: StreamEvent;
}

export type FeedPage =
  /** Nobody wrote to this stream request, or its retention ended. */
  | { readonly type: 'none' }
  /** The asked-for position is of another life of the feed, or fell out of it: read again from the start. */
  | { readonly type: 'reset' }
  /** Entries after the asked-for position, in order, without a gap; empty when there is nothing newer. */
  | { readonly type: 'entries'; readonly entries: readonly FeedEntry[] };

/** The ordered, replayable events of stream requests. Appends happen inside the commits that cause them. */
export interface Feed {
  /** At most `limit` entries after `after`, or from the start. */
  read(stream: StreamRef, after: FeedPosition | undefined, limit: number): Promise<FeedPage>;
}
