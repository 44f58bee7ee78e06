import { isParleyClientError, isTransient } from './errors.ts';
import { openResponse, readEventStream } from './event-stream.ts';
import { createBackoff } from './retry.ts';
import type { SseEvent } from './sse-parser.ts';
import { sleep } from './time.ts';
import type { HttpCall, Transport } from './transport.ts';

/** How to follow a stream across several connections. */
export interface FollowEventsOptions {
  readonly lastEventId?: string | undefined;
  /** The time without data, heartbeats included, after which a connection counts as lost. @default 45000 */
  readonly heartbeatTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether to reconnect after an error. @default isTransient */
  readonly isRetryable?: ((error: unknown) => boolean) | undefined;
  /** Whether an event resets the back-off. Called without an event for a comment. @default always */
  readonly resetsBackoff?: ((event?: SseEvent) => boolean) | undefined;
  /** Called before the delay when a connection ended or could not be opened, with the server's Retry-After if it refused. */
  readonly onDisconnect?: ((retryAfterSeconds: number | undefined) => void) | undefined;
}

/** The time of three heartbeats of Parley's streams, which come every 15 s. */
const HEARTBEAT_TIMEOUT_MS = 45_000;

/**
 * Reads an event stream and reconnects after the last yielded event. Ends when the signal is aborted; throws when the server
 * refuses the stream.
 */
export async function* followEvents(
  transport: Transport,
  source: Pick<HttpCall, 'path' | 'query'>,
  options: FollowEventsOptions,
): AsyncGenerator<SseEvent, void> {
  const { signal, isRetryable = isTransient, heartbeatTimeoutMs = HEARTBEAT_TIMEOUT_MS } = options;
  const isAborted = () => signal?.aborted === true;
  const backoff = createBackoff(transport.retry);
  const resetBackoff = (event?: SseEvent) => {
    if (options.resetsBackoff?.(event) ?? true) backoff.reset();
  };
  const onComment = () => resetBackoff();
  // The server names a delay at the start of every connection and with heartbeats, so this is no reason to reset the back-off.
  const onRetry = backoff.setFirstDelayMs;
  const reading = { idleTimeoutMs: heartbeatTimeoutMs, signal, onComment, onRetry };
  let { lastEventId } = options;
  while (!isAborted()) {
    let retryAfterSeconds: number | undefined;
    try {
      const headers = eventHeaders(lastEventId);
      const { response, close } = await openResponse(
        transport,
        { method: 'GET', ...source, headers },
        signal,
      );
      try {
        for await (const event of readEventStream(response, reading)) {
          resetBackoff(event);
          // The token has expired. The connection ends next, and the following request sends a new token.
          if (event.event === 'stream-closed') continue;
          lastEventId = event.id ?? lastEventId;
          yield event;
        }
      } finally {
        close();
      }
    } catch (error) {
      if (isAborted()) return;
      if (!isRetryable(error)) throw error;
      if (isParleyClientError(error)) retryAfterSeconds = error.retryAfterSeconds;
    }
    options.onDisconnect?.(retryAfterSeconds);
    await sleep(backoff.nextDelayMs(retryAfterSeconds), signal).catch(() => undefined);
  }
}

function eventHeaders(lastEventId: string | undefined): Record<string, string> {
  const accept = { accept: 'text/event-stream' };
  return lastEventId === undefined ? accept : { ...accept, 'last-event-id': lastEventId };
}
