import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** One server-sent event. `data` is sent as JSON, so nothing in it can end the field. */
export interface SseEvent {
  readonly event: string;
  readonly id?: string;
  readonly data: unknown;
}

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
 * between; a reader that does not keep up holds its source back, and is cut off when it stays behind.
 * WHATWG HTML, section server-sent events.
 */
export async function sendEvents(
  res: ServerResponse,
  events: AsyncIterator<SseEvent>,
  options: SseOptions,
): Promise<void> {
  res.writeHead(200, HEADERS);
  res.write(`retry: ${RETRY_MS}\n\n`);
  const heartbeat = setInterval(
    () => res.writableNeedDrain || res.write(': heartbeat\n\n'),
    options.heartbeatMs,
  );
  const left = once(res, 'close').then(() => undefined);
  let onDrain = (): void => undefined;
  const drained = new Promise<undefined>((resolve) => {
    onDrain = () => resolve(undefined);
    if (options.draining.aborted) onDrain();
    options.draining.addEventListener('abort', onDrain);
  });
  try {
    for (;;) {
      const next = await Promise.race([events.next(), left, drained]);
      if (next === undefined || next.done === true) break;
      if (!res.write(frameOf(next.value)) && !(await caughtUp(res, left, options.slowReaderMs))) break;
    }
  } finally {
    clearInterval(heartbeat);
    options.draining.removeEventListener('abort', onDrain);
    // Ends the source without waiting for it: it may be asleep until its signal is aborted.
    events.return?.(undefined)?.catch(() => undefined);
    res.end();
  }
}

/** Waits for the buffer to empty; false, and the connection cut, when the reader is gone or too slow. */
async function caughtUp(
  res: ServerResponse,
  left: Promise<undefined>,
  slowReaderMs: number,
): Promise<boolean> {
  if (!res.writableNeedDrain) return true;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, slowReaderMs, undefined);
  });
  const drained = await Promise.race([once(res, 'drain').then(() => true), left, late]);
  clearTimeout(timer);
  if (drained === true) return true;
  res.destroy();
  return false;
}

/** The event as text. Ids and names are Parley's own; a line break in one would be a fault of ours. */
function frameOf({ event, id, data }: SseEvent): string {
  const head = id === undefined ? '' : `id: ${oneLine(id)}\n`;
  return `${head}event: ${oneLine(event)}\ndata: ${JSON.stringify(data)}\n\n`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n]/g, '');
}
