import { eventNumberOf, type FeedPosition, feedSeqOf, type StreamEvent } from '@parley/core/domain/events';
import { isMintedStream, isSameOwner, type Owner, type StreamRef } from '@parley/core/domain/ids';
import { type Feed, type FeedEntry, newestOf } from '../ports/elicitations/feed.ts';
import { createExpiringMap } from './expiring-map.ts';

export interface MemoryFeed extends Feed {
  /** Appends one event, and keeps the feed for at least another `ttlMs`. */
  append(stream: StreamRef, event: StreamEvent, at: number, ttlMs: number): FeedPosition;
  /** Makes the feed expire at `until`, in ms since 1970. */
  expireAt(stream: StreamRef, until: number): void;
  /** The stream requests of an owner that have a feed. */
  streamsOf(owner: Owner): string[];
  drop(stream: StreamRef): void;
}

interface FeedState {
  readonly stream: StreamRef;
  readonly epoch: string;
  readonly entries: FeedEntry[];
  /** The number of the last event. */
  number: number;
  until: number;
}

/** Feeds in one process. */
export function createMemoryFeed(eventsMax: number): MemoryFeed {
  const feeds = createExpiringMap<FeedState>();

  function begin(stream: StreamRef, at: number): FeedState {
    return { stream, epoch: String(microsecondsOf(at)), entries: [], number: 0, until: 0 };
  }

  return {
    append(stream, event, at, ttlMs) {
      const key = streamKey(stream);
      const state = feeds.get(key) ?? begin(stream, at);
      state.number += 1;
      state.until = Math.max(state.until, at + ttlMs);
      feeds.set(key, state, state.until);
      const position = { epoch: state.epoch, seq: feedSeqOf(state.number, microsecondsOf(at)) };
      state.entries.push({ position, at, event });
      if (state.entries.length > eventsMax && !isMintedStream(stream.streamRequestId)) state.entries.shift();
      return position;
    },
    expireAt(stream, until) {
      const state = feeds.get(streamKey(stream));
      if (state === undefined) return;
      state.until = until;
      feeds.set(streamKey(stream), state, until);
    },
    streamsOf: (owner) =>
      feeds.values().flatMap(({ stream }) => (isSameOwner(stream, owner) ? [stream.streamRequestId] : [])),
    drop: (stream) => feeds.delete(streamKey(stream)),
    async read(stream, after, limit) {
      const state = feeds.get(streamKey(stream));
      if (state === undefined) return { type: 'none' };
      if (after === undefined) return { type: 'entries', entries: state.entries.slice(0, limit) };
      const first = state.entries[0] === undefined ? 1 : eventNumberOf(state.entries[0].position);
      const start = eventNumberOf(after) - first + 1;
      // The event just before the oldest one was the last to be dropped; a reader after it has missed nothing.
      const isHeld = start === 0 || state.entries[start - 1]?.position.seq === after.seq;
      if (after.epoch !== state.epoch || !isHeld) return { type: 'reset' };
      return { type: 'entries', entries: state.entries.slice(start, start + limit) };
    },
    readNewest: async (stream, limit, before) =>
      newestOf(feeds.get(streamKey(stream))?.entries ?? [], limit, before),
  };
}

/** Node has no wall clock in microseconds, so the last three digits only distinguish writes. */
function microsecondsOf(at: number): number {
  return Math.floor(at * 1000 + (performance.now() % 1000));
}

/** The key of a stream request, unique among all owners. */
export function streamKey({ tenant, userId, streamRequestId }: StreamRef): string {
  return JSON.stringify([tenant, userId, streamRequestId]);
}
