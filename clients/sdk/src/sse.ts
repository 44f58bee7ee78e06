import { type ConnectionDeps, connect, readConnection, type SseEvent } from './connection.ts';
import { isPassing } from './errors.ts';
import { createBackoff, sleep } from './retry.ts';
import type { Call } from './transport.ts';

export interface SseOptions {
  readonly lastEventId?: string | undefined;
  /** A connection that brings nothing for so long, not even a heartbeat, is dead. */
  readonly heartbeatTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads an event stream and comes back to it, after the last event given out, for as long as the trouble may pass.
 * Ends when the signal is aborted; throws when the server refuses the stream.
 */
export async function* readEvents(
  deps: ConnectionDeps,
  source: Pick<Call, 'path' | 'query'>,
  { signal, heartbeatTimeoutMs, ...options }: SseOptions,
): AsyncGenerator<SseEvent, void> {
  const stopped = () => signal?.aborted === true;
  const backoff = createBackoff(deps.retry);
  const onHeartbeat = () => backoff.reset();
  // No sign of health: it comes at the start of every connection, also of one that breaks at once.
  const onRetry = (firstDelayMs: number) => backoff.startFrom(firstDelayMs);
  let { lastEventId } = options;
  while (!stopped()) {
    let retryAfterSeconds: number | undefined;
    try {
      const headers = eventHeaders(lastEventId);
      const connection = await connect(deps, { method: 'GET', ...source, headers }, signal);
      try {
        const reading = { heartbeatTimeoutMs, signal, onHeartbeat, onRetry };
        for await (const event of readConnection(connection, reading)) {
          backoff.reset();
          lastEventId = event.id ?? lastEventId;
          yield event;
        }
      } finally {
        connection.close();
      }
    } catch (error) {
      if (stopped()) return;
      if (!isPassing(error)) throw error;
      retryAfterSeconds = error.retryAfterSeconds;
    }
    await sleep(backoff.next(retryAfterSeconds), signal).catch(() => undefined);
  }
}

function eventHeaders(lastEventId: string | undefined): Record<string, string> {
  const accept = { accept: 'text/event-stream' };
  return lastEventId === undefined ? accept : { ...accept, 'last-event-id': lastEventId };
}
