import { createParser } from 'eventsource-parser';
import { isPassing, ParleyClientError } from './errors.ts';
import { type Backoff, createBackoff, type RetrySettings, sleep, within } from './retry.ts';
import type { Call, Transport } from './transport.ts';

/** One server-sent event as it came. */
export interface SseEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface SseDeps {
  readonly transport: Transport;
  readonly retry: RetrySettings;
}

export interface SseOptions {
  readonly lastEventId?: string | undefined;
  /** A connection that brings nothing for so long, not even a heartbeat, is dead. */
  readonly heartbeatTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What outlives one connection. */
interface Progress {
  lastEventId: string | undefined;
  readonly backoff: Backoff;
}

type Source = Pick<Call, 'path' | 'query'>;

/**
 * Reads an event stream and comes back to it, after the last event given out, for as long as the trouble may pass.
 * Ends when the signal is aborted; throws when the server refuses the stream.
 */
export async function* readEvents(
  deps: SseDeps,
  source: Source,
  options: SseOptions,
): AsyncGenerator<SseEvent, void> {
  const { signal } = options;
  const stopped = () => signal?.aborted === true;
  const progress: Progress = { lastEventId: options.lastEventId, backoff: createBackoff(deps.retry) };
  while (!stopped()) {
    let retryAfterSeconds: number | undefined;
    try {
      yield* readConnection(deps, source, options, progress);
    } catch (error) {
      if (stopped()) return;
      if (!isPassing(error)) throw error;
      retryAfterSeconds = error.retryAfterSeconds;
    }
    await sleep(progress.backoff.next(retryAfterSeconds), signal).catch(() => undefined);
  }
}

async function* readConnection(
  { transport, retry }: SseDeps,
  source: Source,
  { heartbeatTimeoutMs, signal }: SseOptions,
  progress: Progress,
): AsyncGenerator<SseEvent, void> {
  const { lastEventId, backoff } = progress;
  const headers = {
    accept: 'text/event-stream',
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  const waiting: SseEvent[] = [];
  const parser = createParser({
    onEvent({ event = 'message', id, data }) {
      backoff.reset();
      waiting.push({ event, id, data });
    },
    onComment: () => backoff.reset(),
    // No sign of health: it comes at the start of every connection, also of one that breaks at once.
    onRetry: (firstDelayMs) => backoff.startFrom(firstDelayMs),
  });
  const connection = new AbortController();
  try {
    const call = { method: 'GET', ...source, headers } as const;
    const response = await within(retry.attemptMs, signal, () => transport.open(call, connection.signal));
    for await (const text of textOf(response, heartbeatTimeoutMs, signal)) {
      parser.feed(text);
      for (const event of waiting.splice(0)) {
        if (event.id !== undefined) progress.lastEventId = event.id;
        yield event;
      }
    }
  } finally {
    connection.abort();
  }
}

/** Whether a reply is a stream of events; the reply to an answer is the elicitation as JSON. */
export function isEventStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
}

/**
 * The text of an event stream as it comes. Returns at its clean end; throws `unavailable` when it breaks, or is silent
 * for longer than `silenceMsMax`.
 */
export async function* textOf(
  response: Response,
  silenceMsMax: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void> {
  if (response.body === null || !isEventStream(response)) {
    const { status } = response;
    throw new ParleyClientError('internal', 'The reply is not an event stream; check baseUrl.', { status });
  }
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await within(silenceMsMax, signal, () => nextChunk(reader));
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function nextChunk(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (error) {
    throw new ParleyClientError('unavailable', 'The event stream broke off.', { cause: error });
  }
}
