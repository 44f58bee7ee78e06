import type { FeedPosition, StreamEvent } from '../domain/events.ts';
import { isMintedStream, type StreamRef } from '../domain/ids.ts';
import type { Feed, FeedEntry } from '../ports/elicitations/feed.ts';
import { createExpiringMap } from './expiring-map.ts';

export interface MemoryFeed extends Feed {
  /** Appends one event and keeps the feed for at least `ttlMs` more. */
  append(stream: StreamRef, event: StreamEvent, at: number, ttlMs: number): FeedPosition;
  /** Makes the feed expire at `until`, in ms since 1970. */
  expireAt(stream: StreamRef, until: number): void;
}

interface FeedState {
  readonly epoch: string;
  readonly entries: FeedEntry[];
  seq: number;
  until: number;
}

/** Feeds in one process. */
export function createMemoryFeed(eventsMax: number): MemoryFeed {
  const feeds = createExpiringMap<FeedState>();

  function begin(at: number): FeedState {
    return {
      epoch: String(Math.floor(at * 1000 + (performance.now() % 1000))),
      entries: [],
      seq: 0,
      until: 0,
    };
  }

  return {
    append(stream, event, at, ttlMs) {
      const key = streamKey(stream);
      const state = feeds.get(key) ?? begin(at);
      state.seq += 1;
      state.until = Math.max(state.until, at + ttlMs);
      feeds.set(key, state, state.until);
      const position = { epoch: state.epoch, seq: state.seq };
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
    async read(stream, after, limit) {
      const state = feeds.get(streamKey(stream));
      if (state === undefined) return { type: 'none' };
      if (after === undefined) return { type: 'entries', entries: state.entries.slice(0, limit) };
      const first = state.entries[0]?.position.seq ?? 1;
      if (after.epoch !== state.epoch || after.seq > state.seq || after.seq < first - 1)
        return { type: 'reset' };
      const start = after.seq - first + 1;
      return {
        type: 'entries',
        entries: state.entries.slice(start, start + limit),
      };
    },
  };
}

/** The key of a stream request, unique among all owners. */
export function streamKey({ tenant, userId, streamRequestId }: StreamRef): string {
  return JSON.stringify([tenant, userId, streamRequestId]);
}
