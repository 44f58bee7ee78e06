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

/** An event whose data is `text`, a single line that is sent as it is. Most have no name. */
export interface Frame {
  /** A reader that reconnects with it misses nothing that came after this frame. */
  readonly id?: string;
  readonly event?: string;
  readonly text: string;
  /** True for the last frame of a source: its reader has been told the end, and is told no other one. */
  readonly isLast?: true;
}

/** Events of a reply. A source that returns `cut` is not complete: the connection is destroyed, and the reader reconnects. */
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
// The readers of a pod come back spread over a millisecond for each of them, and at most over so long in all. The drain ends
// two parts of each stream: what it reads, and what it writes.
const SPREAD_MS_EACH = 0.5;
const SPREAD_MS_MAX = 15_000;
// Of readers for which any pod has the rest at hand.
const RETRY_AT_ONCE_MS = 10;
const HEARTBEAT = ': heartbeat\n';

/** Tells a reader why its stream breaks off: `token_expired`. It returns with a new token. */
export const STREAM_CLOSED = { reason: 'token_expired' } as const;

/** A reply of server-sent events. */
export interface EventsReply {
  readonly events: SseSource;
  readonly headers?: Readonly<Record<string, string>>;
  /** False for a format whose readers cannot reconnect: it is not told when to do so. */
  readonly resumable?: boolean;
  /** What is sent before the connection is destroyed because the token expired; the event `stream-closed` when absent. */
  readonly onExpiry?: () => readonly (SseFrameEvent | Frame)[];
  /** Of a format that can say that its rest is elsewhere: sent where the connection would be destroyed. The reply then ends. */
  readonly onCut?: readonly Frame[];
}

const ON_EXPIRY = (): readonly SseFrameEvent[] => [{ event: 'stream-closed', data: STREAM_CLOSED }];

/**
 * Writes events until they end, the reader disconnects, its token expires or the pod drains. Sends the first bytes at
 * once, and heartbeats in between. The reply ends only where the events end; in any other case the connection is
 * destroyed, so that the reader reconnects for the rest, unless the format has words for that (`onCut`). WHATWG HTML,
 * section server-sent events.
 *
 * Neither `retry:` nor a heartbeat is followed by an empty line: the decoder that Python's clients share takes the empty
 * line for the end of an event whose data is empty.
 */
export function sendEvents(res: ServerResponse, reply: EventsReply, options: SseOptions): Promise<void> {
  const { events, headers, resumable = true } = reply;
  writeHead(res, 200, { ...HEADERS, ...headers });
  res.write(resumable ? retryLine(returnMs(options.drain)) : HEARTBEAT);
  const endHeartbeats = options.heartbeats.add(() => res.writableNeedDrain || res.write(HEARTBEAT));
  let isToldEnd = false;
  const textOf = (event: SseFrameEvent | Frame) => {
    isToldEnd = 'isLast' in event && event.isLast === true;
    return frameText(event);
  };
  // This is no asynchronous function: its variables would last as long as the stream.
  return writeAll(res, events, textOf, options).then(
    (ended) => {
      endHeartbeats();
      // The last bytes may be counted for longer than the token lasts.
      finish(res, reply, options, isToldEnd ? 'end' : ended);
    },
    (error: unknown) => {
      endHeartbeats();
      finish(res, reply, options, 'interrupted');
      throw error;
    },
  );
}

/** Says the last words of a stream that has ended so, and ends the reply or destroys the connection. */
function finish(
  res: ServerResponse,
  { onExpiry = ON_EXPIRY, onCut, resumable = true }: EventsReply,
  options: SseOptions,
  ended: StreamEnd,
): void {
  const lastWords = ended === 'expired' ? onExpiry() : ended === 'end' ? [] : (onCut ?? []);
  if (!res.destroyed) for (const event of lastWords) res.write(frameText(event));
  if (ended === 'end' || onCut !== undefined) res.end();
  else
    cut(
      res,
      resumable ? retryLine(ended === 'interrupted' ? returnMs(options.drain) : RETRY_AT_ONCE_MS) : '',
      options,
    );
}

/**
 * When a reader comes back that loses its pod, in ms. The readers of a pod lose it together, and each comes at a time of its
 * own, so that the pods that are left open one stream after the other.
 */
function returnMs({ size }: Pick<StreamOptions['drain'], 'size'>): number {
  return RETRY_MS + Math.floor(Math.random() * Math.min(size * SPREAD_MS_EACH, SPREAD_MS_MAX));
}

/** The delay before the reader reconnects. Every reader takes it from the line, before any event ends. */
function retryLine(ms: number): string {
  return `retry: ${ms}\n`;
}

/** Destroys the connection after these last words. */
function cut(res: ServerResponse, last: string, { slowReaderMs }: StreamOptions): void {
  if (res.destroyed) return;
  const late = setTimeout(() => res.destroy(), slowReaderMs);
  res.once('close', () => clearTimeout(late));
  res.write(last, () => res.destroy());
}

/** Ends a stream of frames, for the clients that expect it. */
export const DONE = '[DONE]';

/**
 * Frames for the texts that one event became. Only the last one carries the event's id, the others the id before it: a
 * reader that is cut off between them gets the whole event again instead of missing its rest.
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

/** An event as text. Ids and names are Parley's own; a line break in one would be a defect of ours. */
export function frameText(event: SseFrameEvent | Frame): string {
  const id = event.id === undefined ? '' : `id: ${oneLine(event.id)}\n`;
  const name = event.event === undefined ? '' : `event: ${oneLine(event.event)}\n`;
  return `${id}${name}data: ${'text' in event ? event.text : JSON.stringify(event.data)}\n\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}
