import { ParleyClientError } from './errors.ts';
import { createSseParser, type SseEvent, type SseHandlers } from './sse-parser.ts';
import { withTimeout } from './time.ts';
import type { HttpCall, Transport } from './transport.ts';

/** A reply whose headers have arrived. `close` ends its body. */
export interface OpenResponse {
  readonly response: Response;
  close(): void;
}

interface ReadStreamOptions extends Partial<SseHandlers> {
  /** The time without data, heartbeats included, after which a connection counts as lost, in ms. */
  readonly idleTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a call once, and waits at most `attemptMs` for the headers. Throws ParleyClientError, or the signal's reason. */
export async function openResponse(
  transport: Transport,
  call: HttpCall,
  signal: AbortSignal | undefined,
): Promise<OpenResponse> {
  const body = new AbortController();
  try {
    const response = await withTimeout(transport.retry.attemptMs, signal, () =>
      transport.open(call, body.signal),
    );
    return { response, close: () => body.abort() };
  } catch (error) {
    body.abort();
    throw error;
  }
}

/**
 * Reads the events of one connection. Returns when the connection ends cleanly; throws `unavailable` when it breaks or stays
 * idle.
 */
export async function* readEventStream(
  { body, headers, status }: Response,
  { idleTimeoutMs, signal, ...handlers }: ReadStreamOptions,
): AsyncGenerator<SseEvent, void> {
  const isEvents = (headers.get('content-type') ?? '').startsWith('text/event-stream');
  if (body === null || !isEvents) {
    throw new ParleyClientError('internal', 'The reply is not an event stream; check baseUrl.', { status });
  }
  const events: SseEvent[] = [];
  const parse = createSseParser({
    ...handlers,
    onEvent(event) {
      handlers.onEvent?.(event);
      events.push(event);
    },
  });
  const reader = body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await withTimeout(idleTimeoutMs, signal, () => readChunk(reader));
      if (done) return;
      parse(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read();
  } catch (error) {
    throw new ParleyClientError('unavailable', 'The event stream broke off.', { cause: error });
  }
}
