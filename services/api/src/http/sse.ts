import type { ServerResponse } from 'node:http';

/** One server-sent event. `data` is sent as JSON, so nothing in it can end the field. */
export interface SseEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

/** An event without a name: `data: ` and `text`, which is a single line, sent as it is. */
export interface Frame {
  /** Whoever comes back with it misses nothing that came after this frame. */
  readonly id?: string;
  readonly text: string;
}

/** Events of a reply. What returns `cut` is not at its end: the connection breaks, and the reader comes back. */
export type SseSource = AsyncIterator<SseEvent | Frame, unknown>;

export interface SseOptions {
  readonly heartbeatMs: number;
  /** How long a reader may leave its buffer full before it is cut off. */
  readonly slowReaderMs: number;
  /** Aborted when the pod drains: the reader is told to come back soon, to another pod. */
  readonly draining: AbortSignal;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
};
const RETRY_MS = 1_000;

/**
 * Writes events until they end, the reader leaves or the pod drains. Sends the first bytes at once and heartbeats
 * between; a reader that does not keep up holds its source back, and is cut off when it stays behind. Only where the
 * events end does the reply end; in any other case the connection is cut, so that the reader comes back for the rest.
 * WHATWG HTML, section server-sent events.
 */
export async function sendEvents(
  res: ServerResponse,
  events: SseSource,
  options: SseOptions,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  res.writeHead(200, { ...HEADERS, ...headers });
  res.write(`retry: ${RETRY_MS}\n\n`);
  const heartbeat = setInterval(
    () => res.writableNeedDrain || res.write(': heartbeat\n\n'),
    options.heartbeatMs,
  );
  const ending = endingOf(res, options.draining);
  let done = false;
  try {
    for (;;) {
      const next = await ending.orNext(events);
      done = next?.done === true && next.value !== 'cut';
      if (next === undefined || next.done === true) break;
      if (!res.write(frameText(next.value)) && !(await caughtUp(res, options.slowReaderMs))) break;
    }
  } finally {
    clearInterval(heartbeat);
    ending.forget();
    // Ends the source without waiting for it: it may be asleep until its signal is aborted.
    events.return?.(undefined)?.catch(() => undefined);
    if (done) res.end();
    else cut(res, options.slowReaderMs);
  }
}

function cut(res: ServerResponse, slowReaderMs: number): void {
  if (res.destroyed) return;
  const late = setTimeout(() => res.destroy(), slowReaderMs);
  res.once('close', () => clearTimeout(late));
  res.write(`retry: ${RETRY_MS}\n\n`, () => res.destroy());
}

interface Ending {
  /** The next of these events, or nothing once the reader left or the pod drains. */
  orNext(events: SseSource): Promise<IteratorResult<SseEvent | Frame, unknown> | undefined>;
  forget(): void;
}

/**
 * Whatever ends a stream from outside. One promise per event, not a race with two that last as long as the stream:
 * those would hold on to every event they were ever raced with.
 */
function endingOf(res: ServerResponse, draining: AbortSignal): Ending {
  let ended = draining.aborted || res.closed;
  let tell = (): void => undefined;
  const end = () => {
    ended = true;
    tell();
  };
  res.once('close', end);
  draining.addEventListener('abort', end);
  return {
    orNext: (events) =>
      new Promise((resolve, reject) => {
        tell = () => resolve(undefined);
        if (ended) tell();
        else events.next().then(resolve, reject);
      }),
    forget() {
      tell = () => undefined;
      res.off('close', end);
      draining.removeEventListener('abort', end);
    },
  };
}

/** Waits for the buffer to empty; false, and the connection cut, when the reader is gone or too slow. */
async function caughtUp(res: ServerResponse, slowReaderMs: number): Promise<boolean> {
  if (!res.writableNeedDrain) return true;
  const drained = await new Promise<boolean>((resolve) => {
    const settle = (caught: boolean) => {
      clearTimeout(timer);
      res.off('drain', onDrain);
      res.off('close', onClose);
      resolve(caught);
    };
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    const timer = setTimeout(onClose, slowReaderMs);
    res.once('drain', onDrain);
    res.once('close', onClose);
    if (res.closed) onClose();
  });
  if (!drained) res.destroy();
  return drained;
}

/** An event as text. Ids and names are Parley's own; a line break in one would be a fault of ours. */
export function frameText(event: SseEvent | Frame): string {
  const head = event.id === undefined ? '' : `id: ${oneLine(event.id)}\n`;
  return 'text' in event
    ? `${head}data: ${event.text}\n\n`
    : `${head}event: ${oneLine(event.event)}\ndata: ${JSON.stringify(event.data)}\n\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}
