import { eventNumberOf, parseFeedPosition } from '@parley/core/domain/events';
import type { Owner } from '../history/events.ts';
import { readEvents } from '../http/read-events.ts';
import { tokenOf } from './pod-client.ts';

export interface ReadEvent {
  readonly id: string | undefined;
  readonly name: string;
  readonly elicitationId: string | undefined;
  readonly status: string | undefined;
}

/** One connection to a stream, as a browser opens it. */
export interface Reader {
  readonly httpStatus: number;
  /** All events received so far; grows. */
  readonly events: readonly ReadEvent[];
  /** Resolves when either side has ended the connection. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

export interface ReadOptions {
  readonly url: string;
  readonly owner: Owner;
  readonly streamRequestId: string;
  readonly lastEventId?: string | undefined;
}

/** Opens a stream; resolves once its headers are there. */
export async function openReader(options: ReadOptions): Promise<Reader> {
  const { url, owner, streamRequestId, lastEventId } = options;
  const leaving = new AbortController();
  const events: ReadEvent[] = [];
  const response = await fetch(`${url}/v1/streams/${streamRequestId}/events`, {
    headers: {
      authorization: `Bearer ${await tokenOf(owner)}`,
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    signal: leaving.signal,
  });
  // A disconnect, a reset and a dead pod all end the connection.
  const ended = Promise.resolve(
    response.status === 200
      ? readEvents(response, ({ id, event, data }) => {
          const { elicitationId, status } = JSON.parse(data) as Partial<Record<string, string>>;
          events.push({ id, name: event ?? '', elicitationId, status });
        })
      : response.body?.cancel(),
  ).catch(() => undefined);
  return {
    httpStatus: response.status,
    events,
    ended,
    async close() {
      leaving.abort();
      await ended;
    },
  };
}

/** Lists the faults in a connection's event ids: a gap or a repeat, except across a reset. */
export function findFaults(events: readonly ReadEvent[], lastEventId?: string): string[] {
  const faults: string[] = [];
  let last = lastEventId;
  for (const { id, name } of events) {
    if (name === 'stream-reset') last = undefined;
    else if (id === undefined) faults.push(`${name} without an id`);
    else {
      if (last !== undefined && !isNext(last, id)) faults.push(`${id} after ${last}`);
      last = id;
    }
  }
  return faults;
}

function isNext(before: string, id: string): boolean {
  const [one, next] = [parseFeedPosition(before), parseFeedPosition(id)];
  if (one === undefined || next === undefined) return false;
  return next.epoch === one.epoch && eventNumberOf(next) === eventNumberOf(one) + 1;
}
