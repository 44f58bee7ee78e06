import type { FeedPosition, StreamEvent } from '../domain/events.ts';
import type { StreamRef } from '../domain/ids.ts';
import type { Feed, FeedEntry } from '../ports/feed.ts';

export interface MemoryFeed extends Feed {
  /** Appends one event and keeps the feed for at least `ttlMs` more. */
  append(stream: StreamRef, event: StreamEvent, at: number, ttlMs: number): FeedPosition;
}

interface Life {
  readonly epoch: string;
  readonly entries: FeedEntry[];
  seq: number;
  until: number;
}

/** Feeds in one process. */
export function createMemoryFeed(eventsMax: number): MemoryFeed {
  const feeds = new Map<string, Life>();

  function lifeOf(stream: StreamRef): Life | undefined {
    const key = keyOf(stream);
    const life = feeds.get(key);
    if (life !== undefined && life.until > Date.now()) return life;
    feeds.delete(key);
    return undefined;
  }

  function begin(stream: StreamRef, at: number): Life {
    const epoch = String(Math.floor(at * 1000 + (performance.now() % 1000)));
    const life: Life = { epoch, entries: [], seq: 0, until: 0 };
    feeds.set(keyOf(stream), life);
    return life;
  }

  /** Removes a feed when its time has come, also when nobody reads it any more. */
  function removeLater(stream: StreamRef, life: Life): void {
    const sleepMs = Math.min(Math.max(1, life.until - Date.now()), 0x7fffffff);
    setTimeout(() => lifeOf(stream) === life && removeLater(stream, life), sleepMs).unref();
  }

  return {
    append(stream, event, at, ttlMs) {
      const life = lifeOf(stream) ?? begin(stream, at);
      life.seq += 1;
      life.until = Math.max(life.until, at + ttlMs);
      if (life.seq === 1) removeLater(stream, life);
      const position = { epoch: life.epoch, seq: life.seq };
      life.entries.push({ position, at, event });
      if (life.entries.length > eventsMax) life.entries.shift();
      return position;
    },
    async read(stream, after, limit) {
      const life = lifeOf(stream);
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

function keyOf({ tenant, userId, streamRequestId }: StreamRef): string {
  return JSON.stringify([tenant, userId, streamRequestId]);
}
