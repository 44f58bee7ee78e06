import { CHARACTERS_AHEAD_MAX } from '@parley/core/domain/events';
import type { TurnEvent } from '../domain/runs/turn-events.ts';
import type { RunText } from '../ports/runs/runs.ts';

/** How long new text waits for more text after the last piece was published, in ms. */
export const COALESCE_MS = 25;
/** Text of this length is published without waiting. */
export const COALESCE_CHARACTERS = 256;

/** Text that is waiting to be written as the next event of a run. */
export type PendingText = Extract<TurnEvent, { type: 'text-delta' }>;

interface TextPublisherDeps {
  /** The text with which the next event of the run will begin; undefined while another event comes first. */
  readonly pending: () => PendingText | undefined;
  readonly publish: (text: Pick<RunText, 'block' | 'offset' | 'text'>) => void;
}

/** Publishes text before it is written: models produce a few characters at a time, and a write for each would cost too much. */
interface TextPublisher {
  /** Call when more text is pending. A piece is published at once, unless the last one was published a short time ago. */
  grown(): void;
  /** Call when the pending text is being written. */
  taken(): void;
}

export function createTextPublisher({ pending, publish }: TextPublisherDeps): TextPublisher {
  let published = 0;
  let publishedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  function send(): void {
    clearTimeout(timer);
    timer = undefined;
    const { block, text } = pending() ?? { text: '' };
    if (block === undefined || text.length <= published || text.length > CHARACTERS_AHEAD_MAX) return;
    const offset = published;
    published = text.length;
    publishedAt = performance.now();
    publish({ block, offset, text: text.slice(offset) });
  }

  return {
    grown() {
      const waitMs = publishedAt + COALESCE_MS - performance.now();
      const isLarge = (pending()?.text.length ?? 0) - published >= COALESCE_CHARACTERS;
      if (waitMs <= 0 || isLarge) send();
      else timer ??= setTimeout(send, waitMs);
    },
    taken() {
      clearTimeout(timer);
      timer = undefined;
      published = 0;
    },
  };
}
