import { type FeedPosition, isNextPosition, isSamePosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import { SleeperReads } from '../async/retry-while-unavailable.ts';
import { WakeSignal } from '../async/wake-signal.ts';
import { notFound } from '../domain/caller.ts';
import type { LiveText, Wake } from '../domain/elicitations/wake.ts';
import type { BusSignal } from '../ports/elicitations/event-bus.ts';
import type { EngineDeps } from '../records/deps.ts';
import { endedByWake } from '../records/ended.ts';
import type { FamiliesDeps } from '../records/family-deps.ts';
import { endOf, FEED_PAGE, type JoinedEntry, type JoinedItem, readPage } from './joined-feed.ts';

export interface WatchInput {
  readonly stream: StreamRef;
  /** The position after which to start; the beginning when absent. */
  readonly after?: FeedPosition;
  /** True: a stream on which nobody has asked stays open and silent. False: it is `not_found`. */
  readonly evenIfSilent: boolean;
  readonly signal?: AbortSignal;
}

/** An item for a reader of a stream request. A reader that later sends `id` continues after this item. */
export type WatchItem =
  | JoinedItem
  /**
   * The feed was lost, or the given position belongs to an earlier feed. The reader must drop what it has; the replay starts
   * from the beginning.
   */
  | { readonly type: 'reset' };

/** Text of a turn that is not in its feed yet. It is the beginning of the turn's next event after the one at `after`. */
export interface LiveItem {
  readonly type: 'live';
  readonly after: string;
  readonly text: LiveText;
}

// A reader that is further behind gets the text from the feed instead.
const ITEMS_MAX = 100;

/**
 * Follows a stream request: the events after `after`, and then each new one, in order and without gaps, from any pod. Ends when
 * the feed's retention ends. Elicitations whose own retention has ended are omitted.
 */
export async function watch(deps: FamiliesDeps, input: WatchInput): Promise<AsyncGenerator<WatchItem, void>> {
  if (!input.evenIfSilent) {
    const page = await deps.feed.read(input.stream, undefined, 1);
    if (page.type === 'none') throw notFound();
  }
  return follow<never>(deps, input, () => undefined);
}

/**
 * The same as `watch`, plus live texts before they are in the feed. A live text may be missing, repeated, or come after the
 * event that begins with it; only the feed is complete.
 */
export async function watchLive(
  deps: FamiliesDeps,
  input: Omit<WatchInput, 'evenIfSilent'>,
): Promise<AsyncGenerator<WatchItem | LiveItem, void>> {
  return follow(deps, input, (after, text) => ({ type: 'live', after, text }));
}

async function* follow<Live extends LiveItem>(
  deps: FamiliesDeps,
  input: Omit<WatchInput, 'evenIfSilent'>,
  liveItemOf: (after: string, text: LiveText) => Live | undefined,
): AsyncGenerator<WatchItem | Live, void> {
  const wakeSignal = new WakeSignal(input.signal);
  const due = new DueItems(liveItemOf);
  const subscription = deps.wakes.subscribe(input.stream, (signal) => {
    if (due.add(signal, endIn(deps, signal))) wakeSignal.notify();
    // The other readers of the stream get this wake now, and need what the process knows of the record, too.
    if (signal.type === 'event') queueMicrotask(() => endedByWake(deps, signal.event));
  });
  const place: FeedPlace = { position: input.after, told: [], seen: false };
  const reads = new SleeperReads();
  let readBy = 0;
  try {
    for (;;) {
      const next = due.next() ?? (performance.now() >= readBy ? 'read' : undefined);
      if (next === undefined) {
        await wakeSignal.sleep(readBy);
        if (wakeSignal.woken() === 'notified') reads.notified();
        else reads.silent();
      } else if (next === 'read' || (next.type === 'end' && !follows(place, next))) {
        yield* readOn(deps, input.stream, place, reads);
        if (place.isGone === true) return;
        readBy = performance.now() + reads.readerPauseMs(deps.settings.recheckMs);
      } else if (next.type === 'end') {
        place.told.push(next.at);
        if (next.item !== undefined) yield next.item;
      } else yield next;
    }
  } finally {
    subscription.unsubscribe();
    wakeSignal.close();
  }
}

/** The end of a record that a wake tells, with all that a read would bring. */
interface ToldEnd extends JoinedEntry {
  readonly type: 'end';
}

function endIn(deps: FamiliesDeps, signal: BusSignal<Wake>): ToldEnd | undefined {
  const entry = signal.type === 'event' ? endOf(deps, signal.event) : undefined;
  return entry && { type: 'end', ...entry };
}

/**
 * The next tasks of a stream reader, in the order of the signals, because a live text follows what the feed held when it was
 * published. `liveItemOf` makes an item of a text, or undefined for readers that get text from the feed only. This is a class
 * because a pod holds one for each stream.
 */
class DueItems<Live> {
  readonly #liveItemOf: (after: string, text: LiveText) => Live | undefined;
  #items: (Live | ToldEnd | 'read')[] = ['read'];

  constructor(liveItemOf: (after: string, text: LiveText) => Live | undefined) {
    this.#liveItemOf = liveItemOf;
  }

  /**
   * Adds what a signal makes due: the end that it tells, if it tells one, or a read. False when it makes nothing due that was not
   * due before.
   */
  add(signal: BusSignal<Wake>, ended: ToldEnd | undefined): boolean {
    // An end holds its question, of which a slow reader keeps one page.
    const item = (this.#items.length < FEED_PAGE ? ended : undefined) ?? this.#itemOf(signal);
    // A read that has not begun finds the end, too.
    if (item === undefined || ((item === 'read' || item === ended) && this.#items.at(-1) === 'read'))
      return false;
    if (this.#items.length < ITEMS_MAX) this.#items.push(item);
    else this.#items = ['read'];
    return true;
  }

  /** Removes and returns the next item: a text, an end, or a read of the feed. */
  next(): Live | ToldEnd | 'read' | undefined {
    return this.#items.shift();
  }

  #itemOf(signal: BusSignal<Wake>): Live | 'read' | undefined {
    if (signal.type !== 'event' || !('live' in signal.event)) return 'read';
    const { position, live } = signal.event;
    return live === undefined ? 'read' : this.#liveItemOf(position, live);
  }
}

/** How far a reader has read. */
interface FeedPlace {
  /** The last event that was read. */
  position: FeedPosition | undefined;
  /** The ends right after it that wakes told. The next read must find them there. */
  told: FeedPosition[];
  /** True once the reader has found the feed. */
  seen: boolean;
  /** True when the feed no longer exists. */
  isGone?: boolean;
}

/** True for the event right after all that were read and told, by its number. The next read compares the whole position. */
function follows({ position, told }: FeedPlace, { at }: ToldEnd): boolean {
  const last = told.at(-1) ?? position;
  return last !== undefined && told.length < FEED_PAGE - 1 && isNextPosition(last, at);
}

/** False where the feed has lost an event of which a wake told. */
function hasTold(joined: readonly JoinedEntry[], { told }: FeedPlace): boolean {
  return told.every((position, index) => {
    const entry = joined[index];
    return entry !== undefined && isSamePosition(entry.at, position);
  });
}

/** Reads the feed from a place to its end, or until Redis is unavailable. */
async function* readOn(
  deps: EngineDeps,
  stream: StreamRef,
  place: FeedPlace,
  reads: SleeperReads,
): AsyncGenerator<WatchItem, void> {
  for (;;) {
    const page = await reads.read(() => readPage(deps, stream, place.position));
    if (page?.type === 'reset' || (page?.type === 'joined' && !hasTold(page.joined, place))) {
      yield { type: 'reset' };
      place.position = undefined;
      place.told = [];
      continue;
    }
    place.isGone = page?.type === 'none' && place.seen;
    if (page?.type !== 'joined') return;
    place.seen = true;
    const toldCount = place.told.length;
    place.told = [];
    for (const [index, { item, at }] of page.joined.entries()) {
      place.position = at;
      if (item !== undefined && index >= toldCount) yield item;
    }
    if (page.joined.length < FEED_PAGE) return;
  }
}
