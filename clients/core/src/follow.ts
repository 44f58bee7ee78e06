import { isParleyClientError, isTransient } from './errors.ts';
import { openResponse, readEventStream } from './event-stream.ts';
import { createBackoff } from './retry.ts';
import type { SseEvent } from './sse-parser.ts';
import { sleep } from './time.ts';
import type { HttpCall, Transport } from './transport.ts';

/** How a stream is followed over as many connections as it takes. */
export interface FollowEventsOptions {
  readonly lastEventId?: string | undefined;
  /** A connection that delivers nothing for this time, not even a heartbeat, counts as lost. @default 45000 */
  readonly heartbeatTimeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whether to reconnect after an error. @default isTransient */
  readonly isRetryable?: ((error: unknown) => boolean) | undefined;
  /** Whether an event resets the back-off; called without one for a comment. @default always */
  readonly resetsBackoff?: ((event?: SseEvent) => boolean) | undefined;
  /** Called when a connection ended or could not be made, before the delay; with the server's Retry-After where it refused. */
  readonly onDisconnect?: ((retryAfterSeconds: number | undefined) => void) | undefined;
}

/** Three heartbeats of Parley's streams, which come every 15 s. */
const HEARTBEAT_TIMEOUT_MS = 45_000;

/**
 * Reads an event stream and reconnects after the last event that was yielded. Ends when the signal is aborted; throws
 * when the server refuses the stream.
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
  // The delay that the server names comes at the start of every connection, so it is no reason to reset the back-off.
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
          // The token has expired. The connection ends next, and the following request has a new one.
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
