/**
 * Reads a feed and joins its entries with the records that they concern, because a feed stores no content of questions. Waiting
 * for new entries is in `watch.ts`.
 */

import type { Approval } from '@parley/core/domain/approvals/approval';
import { type ApprovalEvent, readApprovalEvent } from '@parley/core/domain/approvals/events';
import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import {
  type ElicitationEvent,
  type FeedPosition,
  formatFeedPosition,
  isElicitationEvent,
  parseFeedPosition,
  type StreamEvent,
  type UnknownEvent,
} from '@parley/core/domain/events';
import type { FamilyTypes } from '@parley/core/domain/family';
import type { StreamRef } from '@parley/core/domain/ids';
import type { ApprovalRow } from '../domain/approvals/types.ts';
import { toApprovalWire } from '../domain/approvals/wire.ts';
import { type Row, toWire } from '../domain/elicitations/row.ts';
import type { Wake } from '../domain/elicitations/wake.ts';
import { type StoredRecord, storedRecordOf } from '../ports/elicitations/elicitations.ts';
import type { FeedBeginning, FeedEntry, FeedPage } from '../ports/elicitations/feed.ts';
import type { EngineDeps } from '../records/deps.ts';
import { endingIn } from '../records/ended.ts';
import type { FamiliesDeps, RecordDeps } from '../records/family-deps.ts';

// A slow reader holds one page in memory, and a question may take 50 kB.
export const FEED_PAGE = 25;
// The longest feeds have hundreds of thousands of events, so only the newest are read.
const NEWEST_MAX = 250;

/** An event of a feed, joined with the record that it concerns. */
export type JoinedItem =
  | {
      readonly type: 'elicitation';
      readonly id: string;
      /** When the event was appended, in ms on the Redis clock. */
      readonly at: number;
      readonly event: string;
      readonly elicitation: Elicitation;
      /** Present when the record is still open and a channel may notify the owner. */
      readonly hasNotices?: true;
    }
  | {
      readonly type: 'approval';
      readonly id: string;
      readonly at: number;
      readonly event: string;
      /** The approval as of this event. */
      readonly approval: Approval;
      /** True when the approval has ended since then. */
      readonly isOver: boolean;
      readonly hasNotices?: true;
    }
  | {
      readonly type: 'other';
      readonly id: string;
      readonly at: number;
      readonly event: UnknownEvent;
    };

/**
 * The current content of a stream request's feed from its first entry, joined as in `watch`. Ends at the last entry, or when
 * the feed is lost. Entries that were already read are not read again.
 */
export async function* replayItems(
  deps: Pick<EngineDeps, 'feed' | 'records'>,
  stream: StreamRef,
  beginning?: FeedBeginning,
): AsyncGenerator<JoinedItem, void> {
  let after: FeedPosition | undefined;
  if (beginning !== undefined) {
    for (const { item, at } of await join(deps, beginning.entries, beginning)) {
      after = at;
      if (item !== undefined) yield item;
    }
    if (beginning.isWhole) return;
  }
  for (;;) {
    const page = await readPage(deps, stream, after);
    if (page.type !== 'joined') return;
    for (const { item, at } of page.joined) {
      after = at;
      if (item !== undefined) yield item;
    }
    if (page.joined.length < FEED_PAGE) return;
  }
}

/**
 * The newest events of a feed, unjoined and newest first: at most `NEWEST_MAX`, and read only as far as the caller takes them.
 */
export async function* newestEvents(
  { feed }: Pick<EngineDeps, 'feed'>,
  stream: StreamRef,
): AsyncGenerator<StreamEvent, void> {
  let before: FeedPosition | undefined;
  for (let taken = 0; taken < NEWEST_MAX; taken += FEED_PAGE) {
    const entries = await feed.readNewest(stream, FEED_PAGE, before);
    for (const { position, event } of entries) {
      before = position;
      yield event;
    }
    if (entries.length < FEED_PAGE) return;
  }
}

/** An event of a feed: where it lies, and what a reader gets; nothing for what is left out. */
export interface JoinedEntry {
  readonly at: FeedPosition;
  readonly item: JoinedItem | undefined;
}

type JoinedPage =
  | Exclude<FeedPage, { type: 'entries' }>
  | { readonly type: 'joined'; readonly joined: readonly JoinedEntry[] };

/** The next page of a feed, joined with the rows that the entries concern. */
export async function readPage(
  deps: Pick<EngineDeps, 'feed' | 'records'>,
  stream: StreamRef,
  after: FeedPosition | undefined,
): Promise<JoinedPage> {
  const page = await deps.feed.read(stream, after, FEED_PAGE);
  return page.type === 'entries' ? { type: 'joined', joined: await join(deps, page.entries) } : page;
}

/** Joins entries with their rows, and reads the rows that are not known. */
async function join(
  deps: Pick<EngineDeps, 'records'>,
  entries: readonly FeedEntry[],
  known?: Pick<FeedBeginning, 'records' | 'now'>,
): Promise<JoinedEntry[]> {
  const about = entries.map(({ event }) => recordIdOf(event)).filter((id) => id !== undefined);
  const ids = [...new Set(about)].filter((id) => known?.records.has(id) !== true);
  const read = ids.length === 0 ? { records: [], now: known?.now ?? 0 } : await deps.records.readMany(ids);
  const records = new Map<string, StoredRecord | undefined>(known?.records);
  for (const [index, id] of ids.entries()) records.set(id, read.records[index]);
  return entries.map((entry) => ({ at: entry.position, item: itemOf(entry, records, read.now) }));
}

/** The event by which a wake says that a record has ended, joined with the row that this process knows; nothing where it does not. */
export function endOf({ families }: Pick<FamiliesDeps, 'families'>, wake: Wake): JoinedEntry | undefined {
  if ('elicitationId' in wake) return joinedEnd(families.questions, wake);
  return 'approvalId' in wake ? joinedEnd(families.approvals, wake) : undefined;
}

function joinedEnd<T extends FamilyTypes>(
  { family, known }: RecordDeps<T>,
  wake: T['wake'] & Pick<Wake, 'position'>,
): JoinedEntry | undefined {
  const read = family.readWake(wake);
  const position = parseFeedPosition(wake.position);
  // Most wakes say that something is asked: its row is not known, and need not be.
  if (read === undefined || position === undefined || !family.isTerminal(read.status)) return undefined;
  const seen = known.find(read.id);
  const ending = seen && endingIn(family, read, seen.row);
  if (seen === undefined || ending === undefined) return undefined;
  const row = { ...seen.row, ...ending };
  const event = family.eventOf(row.id, row.revision, row.status, row.settlement);
  const item = itemOf({ position, at: read.at, event }, new Map([[row.id, storedRecordOf(row)]]), read.at);
  // An ending that only a newer build knows has fields that its wake does not carry.
  return item === undefined || item.type === 'other' ? undefined : { at: position, item };
}

function recordIdOf(event: StreamEvent): string | undefined {
  return isElicitationEvent(event) ? event.elicitationId : readApprovalEvent(event)?.approvalId;
}

function itemOf(
  { position, at, event }: FeedEntry,
  records: ReadonlyMap<string, StoredRecord | undefined>,
  now: number,
): JoinedEntry['item'] {
  const id = formatFeedPosition(position);
  const shown = { now, content: false };
  if (isElicitationEvent(event)) {
    const record = records.get(event.elicitationId);
    if (record?.family !== 'elicitation') return undefined;
    return {
      type: 'elicitation',
      id,
      at,
      event: event.type,
      elicitation: toWire(asOf(record.row, event, at), shown),
      ...(record.row.definition.notify !== undefined &&
        !isTerminal(record.row.status) && { hasNotices: true }),
    };
  }
  const approvalEvent = readApprovalEvent(event);
  if (approvalEvent === undefined) return { type: 'other', id, at, event };
  const record = records.get(approvalEvent.approvalId);
  if (record?.family !== 'approval') return undefined;
  const row = approvalAsOf(record.row, approvalEvent, at);
  const isOver = isApprovalEnded(record.row.status);
  return {
    type: 'approval',
    id,
    at,
    event: approvalEvent.type,
    approval: toApprovalWire(row, shown),
    isOver,
    ...(record.row.definition.notify !== undefined && !isOver && { hasNotices: true }),
  };
}

function approvalAsOf(
  row: ApprovalRow,
  { status, revision, decision, surface }: ApprovalEvent,
  at: number,
): ApprovalRow {
  const { settlement: _settlement, settledAt: _settledAt, ...asked } = row;
  if (!isApprovalEnded(status)) return { ...asked, status, revision };
  const settlement = {
    ...(decision !== undefined && { decision }),
    ...(surface !== undefined && { surface }),
  };
  return { ...asked, status, revision, settledAt: at, settlement };
}

function asOf(row: Row, event: ElicitationEvent, at: number): Row {
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
