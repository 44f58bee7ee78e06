import type { StreamItem } from '@parley/shared/elicitations/watch';
import type { Frame } from '../http/sse.ts';

/**
 * What to send for an item, and what to do after it: go on, end the reply (the turn has ended and its reader was told),
 * or cut the connection, because the reader holds text that is void and must come back for a replay.
 */
export interface Encoded {
  readonly frames: readonly Frame[];
  readonly next: 'more' | 'end' | 'cut';
}

/**
 * One reader's stream in one format. Wants every item of the stream request from its first, in order; holds what has
 * been told so far, so an encoder serves one connection. Items after the last are passed over.
 */
export interface Encoder {
  encode(item: StreamItem): Encoded;
}

/**
 * The frames of a turn, as its items come. Returns how its connection is to end: items that run out before the turn has
 * ended are no end of it, because a clean end reads as a finished turn to stock clients.
 */
export async function* encodeTurn(
  items: AsyncIterable<StreamItem>,
  encoder: Encoder,
): AsyncGenerator<Frame, 'end' | 'cut'> {
  for await (const item of items) {
    const { frames, next } = encoder.encode(item);
    yield* frames;
    if (next !== 'more') return next;
  }
  return 'cut';
}

/** Ends a stream in every format. */
export const DONE = '[DONE]';

/** Nothing to send, for this outcome. */
export function silent(next: Encoded['next']): Encoded {
  return { frames: [], next };
}

/**
 * Frames for what one item became. Only the last one carries the item's id, the others the one before it: a reader that
 * is cut off between them gets the whole item again instead of missing its rest.
 */
export function framesOf(
  texts: readonly string[],
  id: string | undefined,
  before: string | undefined,
): Frame[] {
  return texts.map((text, index) => {
    const own = index === texts.length - 1 ? id : before;
    return own === undefined ? { text } : { id: own, text };
  });
}
