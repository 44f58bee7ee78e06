import { CHARACTERS_AHEAD_MAX } from '@parley/core/domain/events';
import type { TurnEvent } from '../domain/runs/turn-events.ts';
import type { RunText } from '../ports/runs/runs.ts';

/** How long text waits for more text since the last piece went out, in ms. */
export const COALESCE_MS = 25;
/** Text that does not wait any more. */
export const COALESCE_CHARACTERS = 256;

/** Text that waits to be written as the next event of a run. */
export type PendingText = Extract<TurnEvent, { type: 'text-delta' }>;

interface TextPublisherDeps {
  /** The text that the next event of the run begins with; nothing while another event comes first. */
  readonly pending: () => PendingText | undefined;
  readonly publish: (text: Pick<RunText, 'block' | 'offset' | 'text'>) => void;
}

/** Publishes text before it is written: models speak a few characters at a time, and one write for each costs too much. */
interface TextPublisher {
  /** More text is pending. A piece goes out at once, unless the last one went out a short time ago. */
  grown(): void;
  /** The pending text is being written. */
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
