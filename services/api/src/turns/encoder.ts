import type { FollowedEvent } from './follow.ts';

/**
 * The frames for an event, and how to continue: send more, end the reply (the reader knows that the turn has ended), or cut the
 * connection (the reader has superseded text and must reconnect for a replay).
 */
export interface Encoded<Frame> {
  readonly frames: readonly Frame[];
  readonly next: 'more' | 'end' | 'cut';
}

/**
 * One reader's stream in one format. `Frame` is the unit of the format: a server-sent event, a line, a message. An encoder gets
 * every event of a turn in order, beginning with the first. It keeps state, so it serves only one connection. Events after the
 * last are ignored.
 */
export interface Encoder<Frame> {
  encode(event: FollowedEvent): Encoded<Frame>;
}

interface EncodeOptions {
  /** Aborted when the reader disconnects or the pod drains. */
  readonly signal: AbortSignal;
  /** Called when the stream ends for any reason. */
  readonly release: () => void;
}

/**
 * The frames of a turn, as its events arrive. Returns how the connection must end. If the events stop before the turn has
 * ended, the connection is cut, because standard clients take a clean end for a finished turn.
 */
export async function* encodeTurn<Frame extends object>(
  events: AsyncIterable<FollowedEvent>,
  encoder: Encoder<Frame>,
  { signal, release }: EncodeOptions,
): AsyncGenerator<Frame, 'end' | 'cut'> {
  try {
    for await (const event of events) {
      const { frames, next } = encoder.encode(event);
      yield* next === 'end' ? withLast(frames) : frames;
      if (next !== 'more') return next;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    release();
  }
  return 'cut';
}

/** Marks the last frame, which tells the reader that the turn has ended. */
export function withLast<Frame extends object>(frames: readonly Frame[]): readonly Frame[] {
  return frames.map((frame, at) => (at === frames.length - 1 ? { ...frame, isLast: true } : frame));
}

/** Nothing to send. */
export function silent(next: Encoded<never>['next']): Encoded<never> {
  return { frames: [], next };
}
