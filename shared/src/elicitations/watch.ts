import type { Elicitation } from '../domain/elicitations/elicitation.ts';
import { type Row, toWire } from '../domain/elicitations/row.ts';
import { isTerminal } from '../domain/elicitations/status.ts';
import {
  type FeedPosition,
  formatFeedPosition,
  isElicitationEvent,
  type StreamEvent,
  type UnknownEvent,
} from '../domain/events.ts';
import type { StreamRef } from '../domain/ids.ts';
import type { FeedEntry, FeedPage } from '../ports/elicitations/feed.ts';
import { notFound } from './caller.ts';
import type { EngineDeps } from './deps.ts';
import { SleeperReads } from './retry-while-unavailable.ts';
import { WakeSignal } from './wake-signal.ts';

export interface WatchInput {
  readonly stream: StreamRef;
  /** Replay what came after this position; from the start when absent. */
  readonly after?: FeedPosition;
  /** True: a stream without any elicitation is open and silent. False: it is `not_found`. */
  readonly evenIfSilent: boolean;
  readonly signal?: AbortSignal;
}

/** One item for a reader of a stream request. A reader that sends `id` continues after this item. */
export type WatchItem =
  | {
      readonly type: 'elicitation';
      readonly id: string;
      readonly event: string;
      readonly elicitation: Elicitation;
    }
  | {
      readonly type: 'other';
      readonly id: string;
      readonly event: UnknownEvent;
    }
  /** The feed was lost, or the position belongs to another feed: drop what you have, the replay starts from the beginning. */
  | { readonly type: 'reset' };

// A slow reader keeps one page in memory, and a question may take 50 kB.
const PAGE = 25;

/**
 * Follows a stream request: the events after `after`, then each new one, in order and without a gap, from any pod.
 * Ends when the feed's retention ends. Elicitations whose own retention has ended are left out.
 */
export async function watch(deps: EngineDeps, input: WatchInput): Promise<AsyncGenerator<WatchItem, void>> {
  if (!input.evenIfSilent) {
    const page = await deps.feed.read(input.stream, undefined, 1);
    if (page.type === 'none') throw notFound();
  }
  return follow(deps, input);
}

async function* follow(deps: EngineDeps, input: WatchInput): AsyncGenerator<WatchItem, void> {
  const wakeSignal = new WakeSignal(input.signal);
  const subscription = deps.wakes.subscribe(input.stream, () => wakeSignal.notify());
  const reads = new SleeperReads();
  let position = input.after;
  let seen = false;
  try {
    for (;;) {
      const page = await reads.read(() => readPage(deps, input.stream, position));
      if (page?.type === 'none' && seen) return;
      if (page?.type === 'reset') {
        yield { type: 'reset' };
        position = undefined;
        continue;
      }
      if (page?.type === 'joined') seen = true;
      const joined = page?.type === 'joined' ? page.joined : [];
      for (const { item, at } of joined) {
        position = at;
        if (item !== undefined) yield item;
      }
      if (joined.length < PAGE) await sleep(deps, wakeSignal, reads);
    }
  } finally {
    subscription.unsubscribe();
    wakeSignal.close();
  }
}

async function sleep(deps: EngineDeps, wakeSignal: WakeSignal, reads: SleeperReads): Promise<void> {
  const reason = await wakeSignal.wait(performance.now() + reads.pauseMs(deps.settings.recheckMs));
  if (reason === 'notified') reads.notified();
}

interface JoinedEntry {
  readonly at: FeedPosition;
  readonly item: WatchItem | undefined;
}

type JoinedPage =
  | Exclude<FeedPage, { type: 'entries' }>
  | { readonly type: 'joined'; readonly joined: readonly JoinedEntry[] };

/** The next page of a feed, its entries joined with the rows that they are about. */
async function readPage(
  deps: EngineDeps,
  stream: StreamRef,
  after: FeedPosition | undefined,
): Promise<JoinedPage> {
  const page = await deps.feed.read(stream, after, PAGE);
  if (page.type !== 'entries') return page;
  const ids = [
    ...new Set(page.entries.flatMap(({ event }) => (isElicitationEvent(event) ? [event.elicitationId] : []))),
  ];
  const read = ids.length === 0 ? { rows: [], now: 0 } : await deps.elicitations.readMany(ids);
  const rows = new Map(ids.map((id, index) => [id, read.rows[index]]));
  return {
    type: 'joined',
    joined: page.entries.map((entry) => ({ at: entry.position, item: itemOf(entry, rows, read.now) })),
  };
}

function itemOf(
  { position, at, event }: FeedEntry,
  rows: ReadonlyMap<string, Row | undefined>,
  now: number,
): WatchItem | undefined {
  const id = formatFeedPosition(position);
  if (!isElicitationEvent(event)) return { type: 'other', id, event };
  const row = rows.get(event.elicitationId);
  if (row === undefined) return undefined;
  return {
    type: 'elicitation',
    id,
    event: event.type,
    elicitation: toWire(asOf(row, event, at), { now, content: false }),
  };
}

/** The row as it was when the event was written. */
function asOf(row: Row, event: StreamEvent & { type: string }, at: number): Row {
  if (!isElicitationEvent(event)) return row;
  const { status, revision, action, reason, surface } = event;
  const { settlement: _settlement, settledAt: _settledAt, ...asked } = row;
  if (!isTerminal(status)) return { ...asked, status, revision };
  return {
    ...asked,
    status,
    revision,
    settledAt: at,
    settlement: {
      ...(action !== undefined && { action }),
      ...(reason !== undefined && { reason }),
      ...(surface !== undefined && { surface }),
    },
  };
}
