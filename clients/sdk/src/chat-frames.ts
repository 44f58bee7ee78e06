import { createParser } from 'eventsource-parser';
import { textOf } from './sse.ts';

/** One event of a turn's stream as it came. */
export interface Frame {
  readonly id: string | undefined;
  readonly data: string;
}

export interface FrameOptions {
  /** A connection that brings nothing for so long, not even a heartbeat, is dead. */
  readonly heartbeatTimeoutMs: number;
  readonly signal: AbortSignal;
  /** Told of every sign of health. */
  readonly onAlive: () => void;
  /** Told of how long the server wants its readers to wait before they come back, in ms. */
  readonly onRetry: (delayMs: number) => void;
}

/** Reads the events of one connection. Returns at its clean end; throws `unavailable` when it breaks or falls silent. */
export async function* readFrames(response: Response, options: FrameOptions): AsyncGenerator<Frame, void> {
  const waiting: Frame[] = [];
  const parser = createParser({
    onEvent({ id, data }) {
      options.onAlive();
      waiting.push({ id, data });
    },
    onComment: options.onAlive,
    onRetry: options.onRetry,
  });
  for await (const text of textOf(response, options.heartbeatTimeoutMs, options.signal)) {
    parser.feed(text);
    yield* waiting.splice(0);
  }
}
