import type { FeedPosition, StreamEvent } from '@parley/core/domain/events';
import { turnEventOf, waitsForPerson } from '@parley/shared/domain/runs/turn-events';

/** The facts that a returning reader needs about a turn that was detached. */
export interface Detachment {
  /** The end of the feed when the reader came. A `turn-detached` up to this position does not end the stream. */
  readonly until: FeedPosition;
  /** True if the turn is waiting: the reader gets all events up to `until`, and then learns that the turn waits. */
  readonly isWaiting: boolean;
}

/** Collects these facts while the feed is read. */
interface DetachmentScan {
  /** Reads the next entry of the feed. */
  see(entry: { readonly position: FeedPosition; readonly event: StreamEvent }): void;
  /** True if no event of the turn follows its detachment. */
  readonly mayWait: boolean;
  /** The position of the last entry; undefined for an empty feed. */
  readonly until: FeedPosition | undefined;
}

export function createDetachmentScan(): DetachmentScan {
  let until: FeedPosition | undefined;
  let mayWait = false;
  return {
    see({ position, event }) {
      until = position;
      const turnEvent = turnEventOf(event);
      if (turnEvent !== undefined) mayWait = waitsForPerson(turnEvent);
    },
    get mayWait() {
      return mayWait;
    },
    get until() {
      return until;
    },
  };
}
