import {
  eventNumberOf,
  type FeedPosition,
  formatFeedPosition,
  parseFeedPosition,
  type StreamEvent,
} from '../../domain/events.ts';
import type { Feed, FeedEntry, FeedPage } from '../../ports/elicitations/feed.ts';
import type { Commands } from '../client/connect.ts';
import { feedKey } from '../client/keys.ts';
import { orUnavailable } from '../client/unavailable.ts';

type StreamReply = [id: string, fields: string[]][];

/** Feeds as Redis Streams whose entry ids are `<epoch>-<seq>`. */
export function createRedisFeed(redis: Commands, onError?: (error: unknown) => void): Feed {
  return {
    read: (stream, after, limit) => readFeed({ redis, onError }, feedKey(stream), after, limit),
  };
}

interface FeedDeps {
  readonly redis: Commands;
  readonly onError: ((error: unknown) => void) | undefined;
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
  // Starts at the position itself: one call shows whether that entry still exists and what follows it.
  const [first, ...rest] = await range(deps, key, formatFeedPosition(after), limit + 1);
  if (first !== undefined && isSame(first.position, after)) return { type: 'entries', entries: rest };
  const [oldest] = await range(deps, key, '-', 1);
  if (oldest === undefined) return { type: 'none' };
  // The event of the position may have been trimmed as the last one. Anywhere else it was lost with the feed's tail.
  return first !== undefined && isSame(first.position, oldest.position) && follows(after, first.position)
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

function isSame(a: FeedPosition, b: FeedPosition): boolean {
  return a.epoch === b.epoch && a.seq === b.seq;
}

function follows(after: FeedPosition, next: FeedPosition): boolean {
  return next.epoch === after.epoch && eventNumberOf(next) === eventNumberOf(after) + 1;
}

function entryOf([id, flat]: StreamReply[number]): FeedEntry {
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
