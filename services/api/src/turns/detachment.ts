import type { FeedPosition, StreamEvent } from '@parley/core/domain/events';
import { turnEventOf, waitsForPerson } from '@parley/shared/domain/runs/turn-events';

/** What a reader that comes back has to know of a turn that was detached. */
export interface Detachment {
  /** How far the feed went when the reader came: it does not end at a `turn-detached` up to there. */
  readonly until: FeedPosition;
  /** True when the turn waits: the reader gets all events up to there, and then that it waits. */
  readonly isWaiting: boolean;
}

/** Finds that out as the feed goes by. */
interface DetachmentScan {
  /** Looks at the next entry of the feed. */
  see(entry: { readonly position: FeedPosition; readonly event: StreamEvent }): void;
  /** True when no event of the turn follows its detachment. */
  readonly mayWait: boolean;
  /** Where the last entry lies; nothing in an empty feed. */
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
