import type { FeedPosition, StreamEvent } from '../domain/events.ts';
import { isMintedStream, type StreamRef } from '../domain/ids.ts';
import type { Feed, FeedEntry } from '../ports/elicitations/feed.ts';
import { createExpiringMap } from './expiring-map.ts';

export interface MemoryFeed extends Feed {
  /** Appends one event and keeps the feed for at least `ttlMs` more. */
  append(stream: StreamRef, event: StreamEvent, at: number, ttlMs: number): FeedPosition;
  /** Lets the feed leave at `until`, in ms since 1970. */
  leaveAt(stream: StreamRef, until: number): void;
}

interface Life {
  readonly epoch: string;
  readonly entries: FeedEntry[];
  seq: number;
  until: number;
}

/** Feeds in one process. */
export function createMemoryFeed(eventsMax: number): MemoryFeed {
  const feeds = createExpiringMap<Life>();

  function begin(at: number): Life {
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
      const life = feeds.get(key) ?? begin(at);
      life.seq += 1;
      life.until = Math.max(life.until, at + ttlMs);
      feeds.set(key, life, life.until);
      const position = { epoch: life.epoch, seq: life.seq };
      life.entries.push({ position, at, event });
      if (life.entries.length > eventsMax && !isMintedStream(stream.streamRequestId)) life.entries.shift();
      return position;
    },
    leaveAt(stream, until) {
      const life = feeds.get(streamKey(stream));
      if (life === undefined) return;
      life.until = until;
      feeds.set(streamKey(stream), life, until);
    },
    async read(stream, after, limit) {
      const life = feeds.get(streamKey(stream));
      if (life === undefined) return { type: 'none' };
      if (after === undefined) return { type: 'entries', entries: life.entries.slice(0, limit) };
      const first = life.entries[0]?.position.seq ?? 1;
      if (after.epoch !== life.epoch || after.seq > life.seq || after.seq < first - 1)
        return { type: 'reset' };
      const start = after.seq - first + 1;
      return {
        type: 'entries',
        entries: life.entries.slice(start, start + limit),
      };
    },
  };
}

/** Names a stream request among those of all owners. */
export function streamKey({ tenant, userId, streamRequestId }: StreamRef): string {
  return JSON.stringify([tenant, userId, streamRequestId]);
}
