import { createParser } from 'eventsource-parser';
import { ParleyClientError } from './errors.ts';
import { type RetrySettings, within } from './retry.ts';
import type { Call, Transport } from './transport.ts';

/** One server-sent event as it came. */
export interface SseEvent {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface ConnectionDeps {
  readonly transport: Transport;
  readonly retry: RetrySettings;
}

/** A reply whose head is in; `close` cuts the rest of it. */
export interface Connection {
  readonly response: Response;
  close(): void;
}

export interface ReadOptions {
  /** A connection that brings nothing for so long, not even a heartbeat, is dead. */
  readonly heartbeatTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Told of heartbeats. */
  readonly onHeartbeat?: () => void;
  /** Told of how long the server wants its readers to wait before they come back, in ms. */
  readonly onRetry: (delayMs: number) => void;
}

/** Makes a call once, for as long as `attemptMs`. Throws ParleyClientError, or the signal's reason. */
export async function connect(
  { transport, retry }: ConnectionDeps,
  call: Call,
  signal: AbortSignal | undefined,
): Promise<Connection> {
  const cutting = new AbortController();
  try {
    const response = await within(retry.attemptMs, signal, () => transport.open(call, cutting.signal));
    return { response, close: () => cutting.abort() };
  } catch (error) {
    cutting.abort();
    throw error;
  }
}

/** Reads the events of one connection. Returns at its clean end; throws `unavailable` when it breaks or falls silent. */
export async function* readConnection(
  { response }: Connection,
  { heartbeatTimeoutMs, signal, onHeartbeat, onRetry }: ReadOptions,
): AsyncGenerator<SseEvent, void> {
  const waiting: SseEvent[] = [];
  const parser = createParser({
    onEvent({ event = 'message', id, data }) {
      waiting.push({ event, id, data });
    },
    onRetry,
    ...(onHeartbeat !== undefined && { onComment: onHeartbeat }),
  });
  for await (const text of textOf(response, heartbeatTimeoutMs, signal)) {
    parser.feed(text);
    yield* waiting.splice(0);
  }
}

async function* textOf(
  { body, headers, status }: Response,
  silenceMsMax: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void> {
  const isEvents = (headers.get('content-type') ?? '').startsWith('text/event-stream');
  if (body === null || !isEvents) {
    throw new ParleyClientError('internal', 'The reply is not an event stream; check baseUrl.', { status });
  }
  const reader = body.getReader();
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
