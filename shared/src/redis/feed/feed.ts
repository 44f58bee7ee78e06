/**
 * Reads feeds from Redis Streams, or derives them from a row that is alone on its stream request. Appending is not here:
 * commits do it, with append.lua.
 */

import {
  type FeedPosition,
  feedSeqOf,
  formatFeedPosition,
  isNextPosition,
  isSamePosition,
  parseFeedPosition,
  type StreamEvent,
} from '@parley/core/domain/events';
import { elicitationOfOwnStream, type StreamRef } from '@parley/core/domain/ids';
import type { Row } from '../../domain/elicitations/row.ts';
import { eventsOfRow } from '../../domain/elicitations/row-events.ts';
import { type Feed, type FeedEntry, type FeedPage, newestOf } from '../../ports/elicitations/feed.ts';
import type { Commands } from '../client/connect.ts';
import { elicitationKey, feedKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';
import { rowOfHash } from '../records/row-codec.ts';

/** The reply of XRANGE. */
export type StreamReply = [id: string, fields: string[]][];

/** Feeds as Redis Streams with entry ids `<epoch>-<seq>`, and feeds that follow from a row. */
export function createRedisFeed(redis: Commands, onError?: (error: unknown) => void): Feed {
  const deps = { redis, onError };
  return {
    async read(stream, after, limit) {
      const own = await readOwnStream(deps, stream);
      return own === undefined ? readFeed(deps, feedKey(stream), after, limit) : pageOf(own, after, limit);
    },
    async readNewest(stream, limit, before) {
      const own = await readOwnStream(deps, stream);
      if (own !== undefined) return newestOf(own, limit, before);
      const key = feedKey(stream);
      const end = before === undefined ? '+' : `(${formatFeedPosition(before)}`;
      const reply: StreamReply = await orUnavailable(
        () => redis.xrevrange(key, end, '-', 'COUNT', limit),
        onError,
      );
      return reply.map(entryOf);
    },
  };
}

interface FeedDeps {
  readonly redis: Commands;
  readonly onError: ((error: unknown) => void) | undefined;
}

/**
 * The events of an elicitation that is alone on its stream request, derived from its row. Undefined for all other stream
 * requests, and if another version stored a feed.
 */
async function readOwnStream(
  { redis, onError }: FeedDeps,
  { tenant, userId, streamRequestId }: StreamRef,
): Promise<FeedEntry[] | undefined> {
  const id = elicitationOfOwnStream(streamRequestId);
  if (id === undefined) return undefined;
  const hash = await orUnavailable(() => redis.hgetall(elicitationKey(id)), onError);
  const { writtenAt } = hash;
  const row = rowOfHash(id, hash);
  if (writtenAt === undefined || row?.definition.tenant !== tenant || row.definition.userId !== userId)
    return undefined;
  return entriesOf(row, writtenAt);
}

/** `writtenAt` lists the times of the row's commits. A pod of an earlier version does not add the time of its commit. */
function entriesOf(row: Row, writtenAt: string): FeedEntry[] {
  const [epoch = '', ...later] = writtenAt.split(' ');
  const times = [epoch, ...later].map(Number);
  return eventsOfRow(row).map((event, index) => {
    const time = times[index] ?? (row.settledAt ?? row.createdAt) * 1000;
    return {
      position: { epoch, seq: feedSeqOf(event.revision, time) },
      at: Math.floor(time / 1000),
      event,
    };
  });
}

function pageOf(entries: readonly FeedEntry[], after: FeedPosition | undefined, limit: number): FeedPage {
  const [first] = entries;
  const isStart = after === undefined || (first !== undefined && isNextPosition(after, first.position));
  const index = isStart ? 0 : entries.findIndex(({ position }) => isSamePosition(position, after)) + 1;
  return isStart || index > 0
    ? { type: 'entries', entries: entries.slice(index, index + limit) }
    : { type: 'reset' };
}

async function readFeed(
  deps: FeedDeps,
  key: string,
  after: FeedPosition | undefined,
  limit: number,
): Promise<FeedPage> {
  if (after === undefined) {
    const entries = await range(deps, key, '-', limit);
    return entries.length === 0 ? { type: 'none' } : { type: 'entries', entries };
  }
  // Reading starts at the position itself: one call shows whether that entry still exists, and what follows it.
  const [first, ...rest] = await range(deps, key, formatFeedPosition(after), limit + 1);
  if (first !== undefined && isSamePosition(first.position, after)) return { type: 'entries', entries: rest };
  const [oldest] = await range(deps, key, '-', 1);
  if (oldest === undefined) return { type: 'none' };
  // If the event after the position is the oldest one, the position's own event was just trimmed. Otherwise it was lost with
  // the feed's tail.
  return first !== undefined &&
    isSamePosition(first.position, oldest.position) &&
    isNextPosition(after, first.position)
    ? { type: 'entries', entries: [first, ...rest].slice(0, limit) }
    : { type: 'reset' };
}

async function range(
  { redis, onError }: FeedDeps,
  key: string,
  from: string,
  limit: number,
): Promise<FeedEntry[]> {
  const reply: StreamReply = await orUnavailable(() => redis.xrange(key, from, '+', 'COUNT', limit), onError);
  return reply.map(entryOf);
}

/** Converts an entry of an XRANGE reply to a feed entry. */
export function entryOf([id, flat]: StreamReply[number]): FeedEntry {
  const fields = new Map<string, string>();
  for (let index = 0; index + 1 < flat.length; index += 2)
    fields.set(flat[index] ?? '', flat[index + 1] ?? '');
  const position = parseFeedPosition(id);
  if (position === undefined) throw new Error('A feed entry has an id that is not <epoch>-<seq>.');
  const data = JSON.parse(fields.get('data') ?? '{}') as object;
  return {
    position,
    at: Number(fields.get('at')),
    event: { ...data, type: fields.get('event') ?? '' } as StreamEvent,
  };
}
