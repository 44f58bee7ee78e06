import type { StreamItem } from '@parley/shared/engine/watch';

/** One server-sent event without a name: `data: ` and `text`, which is a single line, sent as it is. */
export interface Frame {
  /** `<epoch>-<seq>`: whoever comes back with it misses nothing that came after this frame. */
  readonly id?: string;
  readonly text: string;
}

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

/** The frame as bytes of an event stream. WHATWG HTML, section server-sent events. */
export function frameText(frame: Frame): string {
  const head = frame.id === undefined ? '' : `id: ${frame.id}\n`;
  return `${head}data: ${frame.text}\n\n`;
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
