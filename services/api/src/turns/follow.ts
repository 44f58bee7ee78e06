/** Follows a turn for one reader, in no format. Encoding is in the surfaces, facts about a replay are in `replay.ts`. */

import type { Approval } from '@parley/core/domain/approvals/approval';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import {
  type FeedPosition,
  formatReaderPosition,
  parseFeedPosition,
  type ReaderPosition,
} from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import { releaseOnAbort } from '@parley/shared/async/release-on-abort';
import { asClientShows } from '@parley/shared/domain/elicitations/client-view';
import { type TurnEvent, turnEventOf, waitsForPerson } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { LiveItem, WatchItem } from '@parley/shared/elicitations/watch';
import type { ReplayFacts } from './replay.ts';
import { createTextAhead, type TextPiece } from './text.ts';
import type { Turns } from './turns.ts';

/** The position of an event in its turn, for one reader. */
interface EventPlace {
  /** The id with which a reader resumes after this event. */
  readonly id: string;
  /** True if the reader already has the event, because it resumed after it. */
  readonly isKnown: boolean;
  /** True at the last event so far of a turn that waits for its person. A returning reader may end here. */
  readonly isWaiting: boolean;
}

/** An event of a turn, independent of any format. Events of superseded steps are omitted, except for their questions. */
export type FollowedEvent =
  | (EventPlace & { readonly type: 'turn'; readonly event: TurnEvent })
  | (EventPlace & {
      readonly type: 'question';
      /** `elicitation-request`, `elicitation-updated` or `elicitation-resolved`. */
      readonly change: string;
      /** The question as the client of the turn shows it. A form that it cannot show is converted to a url question. */
      readonly elicitation: Elicitation;
      /** True if it lies among superseded events, so that a reader must not resume after it. */
      readonly isSuperseded: boolean;
    })
  | (EventPlace & {
      readonly type: 'approval';
      /** `approval-request`, `approval-updated` or `approval-resolved`. */
      readonly change: string;
      readonly approval: Approval;
      /** True if the approval had ended when the event was read. */
      readonly isOver: boolean;
      readonly isSuperseded: boolean;
    })
  /** The turn was detached at this point before the reader came, and the stream continues. */
  | (EventPlace & { readonly type: 'detachment-passed' })
  /** An event of a kind that this version does not know. */
  | (EventPlace & { readonly type: 'unknown' })
  /** The reader resumed after an event that is superseded, lost or from another feed. It must discard what it has. */
  | { readonly type: 'stale' }
  /** The feed was lost, or a text that the reader has was lost. The replay starts from the beginning. */
  | { readonly type: 'lost' };

export interface FollowTurnOptions {
  /** When aborted, following ends. */
  readonly signal: AbortSignal;
  /** Present for a reader of a turn that had already begun; undefined for the reader that began it. */
  readonly facts?: ReplayFacts | undefined;
  /** The last position that the reader has, after which it resumes. */
  readonly after?: ReaderPosition | undefined;
  /** Called with each open question or approval that the reader gets and about which a channel may notify the person. */
  readonly onAsked?: ((asked: Elicitation | Approval) => void) | undefined;
}

/** Follows a turn from its first event to its end, on any pod. If the turn's pod dies, the run is taken over within seconds. */
export async function followTurn(
  { engine, turns }: { readonly engine: Pick<Engine, 'watchLive'>; readonly turns: Pick<Turns, 'attend'> },
  stream: StreamRef,
  { signal, onAsked, ...reader }: FollowTurnOptions,
): Promise<AsyncGenerator<FollowedEvent, void>> {
  const stopAttending = releaseOnAbort(signal, turns.attend(stream));
  try {
    const items = await engine.watchLive({ stream, signal });
    return readAll(items, createTurnReader(reader), { onAsked, stopAttending });
  } catch (error) {
    stopAttending();
    throw error;
  }
}

async function* readAll(
  items: AsyncIterable<WatchItem | LiveItem>,
  read: TurnReader,
  { onAsked, stopAttending }: Pick<FollowTurnOptions, 'onAsked'> & { readonly stopAttending: () => void },
): AsyncGenerator<FollowedEvent, void> {
  try {
    for await (const item of items) {
      for (const event of read(item)) {
        // This comes before the event is sent, because the reader may end with this event.
        const asked = 'hasNotices' in item ? askedIn(event) : undefined;
        if (asked !== undefined) onAsked?.(asked);
        yield event;
      }
    }
  } finally {
    stopAttending();
  }
}

/** The question or approval of an event. */
function askedIn(event: FollowedEvent): Elicitation | Approval | undefined {
  if (event.type === 'approval') return event.approval;
  return event.type === 'question' ? event.elicitation : undefined;
}

/** The event of a turn as its readers get it. */
function readerEventOf(given: Parameters<typeof turnEventOf>[0]): TurnEvent | undefined {
  const event = turnEventOf(given);
  // The turn continues by itself, so readers are not told that it was detached.
  return event?.type === 'turn-detached' && !waitsForPerson(event) ? undefined : event;
}

type FeedItem = Exclude<WatchItem, { type: 'reset' }>;

/** Converts the next item of a turn to events for one reader. */
type TurnReader = (item: WatchItem | LiveItem) => readonly FollowedEvent[];

/**
 * Reads the items of a turn for one reader, beginning with the first. Each character of a text is returned once, either live or
 * from the feed. Pure except for its memory of earlier items.
 */
export function createTurnReader({
  facts,
  after,
}: Pick<FollowTurnOptions, 'facts' | 'after'> = {}): TurnReader {
  const until = facts?.detachment?.until;
  const isWaiting = facts?.detachment?.isWaiting === true;
  const texts = createTextAhead(after?.characters);
  let resumedAfter = after;
  let lastPosition: FeedPosition | undefined;

  function isSuperseded(position: ReaderPosition | undefined): boolean {
    return position !== undefined && facts?.superseded.covers(position) === true;
  }

  /** The reader's position at an item, or at a text after it. */
  function idAt(position: FeedPosition | undefined): string {
    return position === undefined ? '' : formatReaderPosition({ ...position, characters: texts.characters });
  }

  function textEvents(
    { text: _whole, ...event }: Extract<TurnEvent, { type: 'text-delta' }>,
    place: Omit<EventPlace, 'isKnown'>,
    pieces: readonly TextPiece[],
  ): FollowedEvent[] {
    return pieces.map(({ text, isKnown }) => ({
      ...place,
      isKnown,
      type: 'turn',
      event: { ...event, text },
    }));
  }

  /** True up to the event that was the last one when the reader came. */
  function isPassed(position: FeedPosition | undefined): boolean {
    return position !== undefined && position.epoch === until?.epoch && position.seq <= until.seq;
  }

  function isStale(position: FeedPosition | undefined): boolean {
    if (resumedAfter === undefined || position === undefined) return false;
    return (
      position.epoch !== resumedAfter.epoch || facts?.isPositionLost === true || isSuperseded(resumedAfter)
    );
  }

  function read(item: FeedItem, position: FeedPosition | undefined): FollowedEvent[] {
    const isKnown = resumedAfter !== undefined && position !== undefined && position.seq <= resumedAfter.seq;
    const isEnd = isWaiting && isPassed(position) && position?.seq === until?.seq;
    const place = () => ({ id: idAt(position), isKnown, isWaiting: isEnd });
    if (item.type === 'elicitation') {
      const { event: change } = item;
      const elicitation = asClientShows(item.elicitation);
      return [{ ...place(), type: 'question', change, elicitation, isSuperseded: isSuperseded(position) }];
    }
    if (item.type === 'approval') {
      const { event: change, approval, isOver } = item;
      return [
        { ...place(), type: 'approval', change, approval, isOver, isSuperseded: isSuperseded(position) },
      ];
    }
    const event = isSuperseded(position) ? undefined : readerEventOf(item.event);
    if (event?.type === 'text-delta') {
      const pieces = texts.passText(item.id, event.text, isKnown);
      return textEvents(event, place(), pieces);
    }
    // The text was published live, but its pod died before it was appended. The reader must replay without it.
    if (!isKnown && texts.isKnown) return [{ type: 'lost' }];
    texts.passEvent(item.id, isKnown);
    if (isSuperseded(position)) return [];
    if (event === undefined) return [{ ...place(), type: 'unknown' }];
    if (event.type === 'turn-detached' && isPassed(position))
      return [{ ...place(), type: 'detachment-passed' }];
    return [{ ...place(), type: 'turn', event }];
  }

  function readLive({ after: last, text: live }: LiveItem): FollowedEvent[] {
    const pieces = texts.passLive(last, live);
    const event = { type: 'text-delta', block: live.block, text: live.text } as const;
    return textEvents(event, { id: idAt(lastPosition), isWaiting: false }, pieces);
  }

  return (item) => {
    if (item.type === 'live') return readLive(item);
    if (item.type === 'reset') {
      texts.clear();
      return [{ type: 'lost' }];
    }
    const position = parseFeedPosition(item.id);
    lastPosition = position;
    if (!isStale(position)) return read(item, position);
    resumedAfter = undefined;
    texts.clear();
    return [{ type: 'stale' }, ...read(item, position)];
  };
}
