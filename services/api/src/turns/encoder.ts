import type { FollowedEvent } from './follow.ts';

/**
 * What to send for an event, and what to do after it: send more, end the reply (the turn has ended and its reader knows),
 * or cut the connection, because the reader holds superseded text and must reconnect for a replay.
 */
export interface Encoded<Frame> {
  readonly frames: readonly Frame[];
  readonly next: 'more' | 'end' | 'cut';
}

/**
 * One reader's stream in one format. `Frame` is the unit of the format's own framing: a server-sent event, a line, a
 * message. Takes every event of a turn from its first, in order; keeps state, so an encoder serves one connection. Events
 * after the last are ignored.
 */
export interface Encoder<Frame> {
  encode(event: FollowedEvent): Encoded<Frame>;
}

interface EncodeOptions {
  /** Aborted when the reader disconnects or the pod drains. */
  readonly signal: AbortSignal;
  /** Called at the end, whatever ends the stream. */
  readonly release: () => void;
}

/**
 * The frames of a turn, as its events come. Returns how the connection must end: events that run out before the turn has
 * ended cut it, because a clean end reads as a finished turn to stock clients.
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

/** The frames, the last of which is marked: its reader has been told the end. */
export function withLast<Frame extends object>(frames: readonly Frame[]): readonly Frame[] {
  return frames.map((frame, at) => (at === frames.length - 1 ? { ...frame, isLast: true } : frame));
}

/** Nothing to send. */
export function silent(next: Encoded<never>['next']): Encoded<never> {
  return { frames: [], next };
}
