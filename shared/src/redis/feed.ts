import {
  type FeedPosition,
  formatFeedPosition,
  parseFeedPosition,
  type StreamEvent,
} from '../domain/events.ts';
import type { Feed, FeedEntry, FeedPage } from '../ports/feed.ts';
import type { Commands } from './connect.ts';
import { feedKey } from './keys.ts';
import { orUnavailable } from './unavailable.ts';

type StreamReply = [id: string, fields: string[]][];

/** Feeds as Redis Streams whose entry ids are `<epoch>-<seq>`. */
export function createRedisFeed(redis: Commands, onError?: (error: unknown) => void): Feed {
  return {
    read: (stream, after, limit) =>
      orUnavailable(() => readFeed(redis, feedKey(stream), after, limit), onError),
  };
}

async function readFeed(
  redis: Commands,
  key: string,
  after: FeedPosition | undefined,
  limit: number,
): Promise<FeedPage> {
  const from = after === undefined ? '-' : `(${formatFeedPosition(after)}`;
  const entries = ((await redis.xrange(key, from, '+', 'COUNT', limit)) as StreamReply).map(entryOf);
  const [next] = entries;
  if (after === undefined) return next === undefined ? { type: 'none' } : { type: 'entries', entries };
  if (next !== undefined)
    return follows(after, next.position) ? { type: 'entries', entries } : { type: 'reset' };
  // Nothing newer: either the position is the last one, or it is of a feed that is no more.
  const [last] = ((await redis.xrevrange(key, '+', '-', 'COUNT', 1)) as StreamReply).map(entryOf);
  if (last === undefined) return { type: 'none' };
  return formatFeedPosition(last.position) === formatFeedPosition(after)
    ? { type: 'entries', entries }
    : { type: 'reset' };
}

function follows(after: FeedPosition, next: FeedPosition): boolean {
  return next.epoch === after.epoch && next.seq === after.seq + 1;
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
