import type { Elicitation } from '@parley/shared/domain/elicitations/elicitation';
import { type FeedPosition, parseFeedPosition } from '@parley/shared/domain/events';
import type { StreamRef } from '@parley/shared/domain/ids';
import { type TurnEvent, turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { Engine } from '@parley/shared/elicitations/engine';
import { releaseOnAbort } from '@parley/shared/elicitations/release-on-abort';
import type { WatchItem } from '@parley/shared/elicitations/watch';
import type { ReplayFacts } from './replay.ts';
import type { Turns } from './turns.ts';

/** Where an event lies in its turn, for the reader that gets it. */
export interface EventPlace {
  /** Resumes after this event. */
  readonly id: string;
  /** True when the reader has the event already, because it resumed after it. */
  readonly isKnown: boolean;
  /** True at the last event so far of a turn that waits for its person: a reader that came back may end here. */
  readonly isWaiting: boolean;
}

/** An event of a turn, in no format. Events of superseded steps are left out, their questions are not. */
export type FollowedEvent =
  | (EventPlace & { readonly type: 'turn'; readonly event: TurnEvent })
  | (EventPlace & {
      readonly type: 'question';
      /** `elicitation-request`, `elicitation-updated` or `elicitation-resolved`. */
      readonly change: string;
      readonly elicitation: Elicitation;
      /** True when it lies among superseded events: a reader must not resume after it. */
      readonly isSuperseded: boolean;
    })
  /** The turn was detached here before the reader came, and the stream continues. */
  | (EventPlace & { readonly type: 'detachment-passed' })
  /** An event of a kind that this version does not know. */
  | (EventPlace & { readonly type: 'unknown' })
  /** The reader resumed after an event that is superseded, lost or of another feed: it must discard what it has. */
  | { readonly type: 'stale' }
  /** The feed was lost: the replay starts over. */
  | { readonly type: 'lost' };

export interface FollowTurnOptions {
  /** Ends the following. */
  readonly signal: AbortSignal;
  /** For a reader of a turn that was begun before; nothing for the one that began it. */
  readonly facts?: ReplayFacts | undefined;
  /** The last event that the reader has; it resumes after it. */
  readonly after?: FeedPosition | undefined;
}

/**
 * Follows a turn from its first event to its end, from any pod. While it is followed, its run is taken over within
 * seconds should its pod die.
 */
export async function followTurn(
  { engine, turns }: { readonly engine: Pick<Engine, 'watch'>; readonly turns: Pick<Turns, 'attend'> },
  stream: StreamRef,
  { signal, ...reader }: FollowTurnOptions,
): Promise<AsyncGenerator<FollowedEvent, void>> {
  const stopAttending = releaseOnAbort(signal, turns.attend(stream));
  try {
    const items = await engine.watch({ stream, evenIfSilent: true, signal });
    return readAll(items, createTurnReader(reader), stopAttending);
  } catch (error) {
    stopAttending();
    throw error;
  }
}

async function* readAll(
  items: AsyncIterable<WatchItem>,
  read: TurnReader,
  stopAttending: () => void,
): AsyncGenerator<FollowedEvent, void> {
  try {
    for await (const item of items) yield* read(item);
  } finally {
    stopAttending();
  }
}

/** What the next item of a feed is to one reader. */
export type TurnReader = (item: WatchItem) => readonly FollowedEvent[];

/** Reads the items of a turn for one reader, from the first item on. Pure but for what it remembers of them. */
export function createTurnReader({ facts, after }: Omit<FollowTurnOptions, 'signal'> = {}): TurnReader {
  const until = facts?.detachment?.until;
  const isWaiting = facts?.detachment?.isWaiting === true;
  let resumedAfter = after;

  function isSuperseded(position: FeedPosition | undefined): boolean {
    return position !== undefined && facts?.superseded.covers(position) === true;
  }

  /** True up to the event that was the last when the reader came. */
  function isPassed(position: FeedPosition | undefined): boolean {
    return position !== undefined && position.epoch === until?.epoch && position.seq <= until.seq;
  }

  function isStale(position: FeedPosition | undefined): boolean {
    if (resumedAfter === undefined || position === undefined) return false;
    return (
      position.epoch !== resumedAfter.epoch || facts?.isPositionLost === true || isSuperseded(resumedAfter)
    );
  }

  function read(
    item: Exclude<WatchItem, { type: 'reset' }>,
    position: FeedPosition | undefined,
  ): FollowedEvent[] {
    const place: EventPlace = {
      id: item.id,
      isKnown: resumedAfter !== undefined && position !== undefined && position.seq <= resumedAfter.seq,
      isWaiting: isWaiting && isPassed(position) && position?.seq === until?.seq,
    };
    if (item.type === 'elicitation') {
      const { event: change, elicitation } = item;
      return [{ ...place, type: 'question', change, elicitation, isSuperseded: isSuperseded(position) }];
    }
    if (isSuperseded(position)) return [];
    const event = turnEventOf(item.event);
    if (event === undefined) return [{ ...place, type: 'unknown' }];
    if (event.type === 'turn-detached' && isPassed(position))
      return [{ ...place, type: 'detachment-passed' }];
    return [{ ...place, type: 'turn', event }];
  }

  return (item) => {
    if (item.type === 'reset') return [{ type: 'lost' }];
    const position = parseFeedPosition(item.id);
    if (!isStale(position)) return read(item, position);
    resumedAfter = undefined;
    return [{ type: 'stale' }, ...read(item, position)];
  };
}
