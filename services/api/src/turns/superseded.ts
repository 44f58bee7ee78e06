import type { FeedPosition, ReaderPosition, StreamEvent } from '@parley/core/domain/events';
import { turnEventOf } from '@parley/shared/domain/runs/turn-events';

/** The turn events of a feed that a later `step-restarted` superseded. */
export interface Superseded {
  /**
   * True for a position between the start of a step and its restart, both ends left out. Text that follows the start of the
   * step lies between them.
   */
  covers(position: ReaderPosition): boolean;
}

export interface SupersededScan extends Superseded {
  /** Takes the next entry of the feed. */
  see(entry: { readonly position: FeedPosition; readonly event: StreamEvent }): void;
}

interface Range {
  readonly epoch: string;
  readonly after: number;
  readonly before: number;
}

/**
 * Finds the events that a replay must leave out. A replay passes the whole feed to it before it sends anything, because
 * an encoder gets one event at a time and would send superseded text before it gets the restart. Elicitation events are
 * never superseded, although a range may cover them: a repeated step finds its questions again.
 */
export function createSupersededScan(): SupersededScan {
  const ranges: Range[] = [];
  // Where the steps that may still be restarted began. A restart also supersedes the later steps.
  let starts: { readonly step: number; readonly seq: number }[] = [];
  let epoch: string | undefined;
  return {
    see({ position, event }) {
      if (position.epoch !== epoch) starts = [];
      epoch = position.epoch;
      const turnEvent = turnEventOf(event);
      if (turnEvent?.type === 'step-started') {
        // A repeated step still begins where it first began.
        if (!starts.some(({ step }) => step === turnEvent.step))
          starts.push({ step: turnEvent.step, seq: position.seq });
      } else if (turnEvent?.type === 'step-restarted') {
        const first = starts.find(({ step }) => step >= turnEvent.step);
        if (first !== undefined) ranges.push({ epoch, after: first.seq, before: position.seq });
        starts = starts.filter(({ step }) => step <= turnEvent.step);
      }
    },
    covers: ({ epoch: life, seq, characters = 0 }) =>
      ranges.some(
        ({ epoch: of, after, before }) =>
          of === life && (after < seq || (after === seq && characters > 0)) && seq < before,
      ),
  };
}
