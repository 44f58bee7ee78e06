/**
 * Writes server-sent events, their heartbeats and their ends. The source of the events is in the surfaces, back pressure is in
 * `stream.ts`.
 */

import type { ServerResponse } from 'node:http';
import { writeHead } from './headers/prepared.ts';
import type { StreamHeartbeats } from './life/heartbeats.ts';
import { type StreamEnd, type StreamOptions, writeAll } from './stream.ts';

/** One server-sent event. `data` is sent as JSON, so nothing in it can end the field. */
export interface SseFrameEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

/** An event whose data is `text`, a single line that is sent unchanged. Most frames have no event name. */
export interface Frame {
  /** A reader that reconnects with this id misses nothing that came after the frame. */
  readonly id?: string;
  readonly event?: string;
  readonly text: string;
  /** True for the last frame of a source. It tells the reader that the stream has ended, so no other end is sent. */
  readonly isLast?: true;
}

/**
 * The events of a reply. If a source returns `cut`, it is incomplete: the connection is destroyed and the reader reconnects.
 */
type SseSource = AsyncIterator<SseFrameEvent | Frame, unknown>;

export interface SseOptions extends StreamOptions {
  readonly heartbeats: StreamHeartbeats;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};
const RETRY_MS = 1_000;
// When a pod drains, its readers return spread over a time that grows with their number, up to a maximum. The drain counts each
// stream twice, because it ends both its reading and its writing.
const SPREAD_MS = { each: 0.5, most: 15_000 } as const;
// Nobody waits for the next event of a stream that is followed for hours.
const FOLLOWED_SPREAD_MS = { each: 1, most: 20_000 } as const;
// The delay for readers that any pod can serve at once.
const RETRY_AT_ONCE_MS = 10;
const HEARTBEAT = ': heartbeat\n';

/** The reason in the last event of a stream that ends because its token expired. The reader returns with a new token. */
export const STREAM_CLOSED = { reason: 'token_expired' } as const;

/** A reply of server-sent events. */
export interface EventsReply {
  readonly events: SseSource;
  readonly headers?: Readonly<Record<string, string>>;
  /** False for a format whose readers cannot reconnect. They get no `retry:` line. */
  readonly resumable?: boolean;
  /** True for a resumable stream that is followed for hours. Its heartbeats say anew when the reader should return. */
  readonly isFollowed?: boolean;
  /** Sent before the connection is destroyed because the token expired; by default, the event `stream-closed`. */
  readonly onExpiry?: () => readonly (SseFrameEvent | Frame)[];
  /**
   * For a format that can tell its reader where to get the rest: sent instead of destroying the connection. The reply then
   * ends.
   */
  readonly onCut?: readonly Frame[];
}

const ON_EXPIRY = (): readonly SseFrameEvent[] => [{ event: 'stream-closed', data: STREAM_CLOSED }];

/**
 * Writes events until they end, the reader disconnects, its token expires or the pod drains. Sends the first bytes at once, and
 * heartbeats in between. The reply ends cleanly only if the events end. Otherwise the connection is destroyed, so that the
 * reader reconnects for the rest, unless the format can say so (`onCut`). WHATWG HTML, section server-sent events.
 *
 * Neither `retry:` nor a heartbeat is followed by an empty line: the decoder that Python clients share takes the empty line for
 * the end of an event with empty data.
 */
export function sendEvents(res: ServerResponse, reply: EventsReply, options: SseOptions): Promise<void> {
  const { events, headers, resumable = true } = reply;
  writeHead(res, 200, { ...HEADERS, ...headers });
  res.write(resumable ? retryLine(returnMs(reply, options)) : HEARTBEAT);
  const endHeartbeats = options.heartbeats.add(
    () =>
      res.writableNeedDrain ||
      res.write(reply.isFollowed === true ? HEARTBEAT + retryLine(returnMs(reply, options)) : HEARTBEAT),
  );
  let isToldEnd = false;
  const textOf = (event: SseFrameEvent | Frame) => {
    isToldEnd = 'isLast' in event && event.isLast === true;
    return frameText(event);
  };
  // This is not an async function, because its variables would then last as long as the stream.
  return writeAll(res, events, textOf, options).then(
    (ended) => {
      endHeartbeats();
      // Counting the last bytes may take longer than the token lasts.
      finish(res, reply, options, isToldEnd ? 'end' : ended);
    },
    (error: unknown) => {
      endHeartbeats();
      finish(res, reply, options, 'interrupted');
      throw error;
    },
  );
}

/** Sends the last events of a stream that ended in this way, then ends the reply or destroys the connection. */
function finish(res: ServerResponse, reply: EventsReply, options: SseOptions, ended: StreamEnd): void {
  const { onExpiry = ON_EXPIRY, onCut, resumable = true } = reply;
  const lastWords = ended === 'expired' ? onExpiry() : ended === 'end' ? [] : (onCut ?? []);
  if (!res.destroyed) for (const event of lastWords) res.write(frameText(event));
  if (ended === 'end' || onCut !== undefined) res.end();
  else
    cut(
      res,
      resumable ? retryLine(ended === 'interrupted' ? returnMs(reply, options) : RETRY_AT_ONCE_MS) : '',
      options,
    );
}

/**
 * When a reader that loses its pod should return, in ms. All readers of a pod lose it at the same time. Each gets a different
 * time, so that the other pods open the streams one by one.
 */
function returnMs({ isFollowed = false }: EventsReply, { drain }: Pick<StreamOptions, 'drain'>): number {
  const { each, most } = isFollowed ? FOLLOWED_SPREAD_MS : SPREAD_MS;
  return RETRY_MS + Math.floor(Math.random() * Math.min(drain.size * each, most));
}

/** The delay before the reader reconnects. Readers apply this line at once, without waiting for the end of an event. */
function retryLine(ms: number): string {
  return `retry: ${ms}\n`;
}

/** Sends the last text and destroys the connection. */
function cut(res: ServerResponse, last: string, { slowReaderMs }: StreamOptions): void {
  if (res.destroyed) return;
  const late = setTimeout(() => res.destroy(), slowReaderMs);
  res.once('close', () => clearTimeout(late));
  res.write(last, () => res.destroy());
}

/** The data of the final frame that OpenAI's clients expect. */
export const DONE = '[DONE]';

/**
 * The frames for the texts of one event. Only the last frame carries the event's id; the others carry the previous id. A reader
 * that is cut off between them then gets the whole event again, instead of missing the rest.
 */
export function framesOf(
  texts: readonly string[],
  id: string | undefined,
  before: string | undefined,
): Frame[] {
  return texts.map((text, index) => {
    const own = index === texts.length - 1 ? id : before;
    return own === undefined ? { text } : { id: own, text };
  });
}

/** An event as text. Ids and names are Parley's own, so a line break in one would be a defect of Parley. */
export function frameText(event: SseFrameEvent | Frame): string {
  const id = event.id === undefined ? '' : `id: ${oneLine(event.id)}\n`;
  const name = event.event === undefined ? '' : `event: ${oneLine(event.event)}\n`;
  return `${id}${name}data: ${'text' in event ? event.text : JSON.stringify(event.data)}\n\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}
