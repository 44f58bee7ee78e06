import type { FeedPosition, ReaderPosition, StreamEvent } from '@parley/core/domain/events';
import { turnEventOf } from '@parley/shared/domain/runs/turn-events';

/** The turn events in a feed that a later `step-restarted` superseded. */
export interface Superseded {
  /**
   * True for a position between the start of a step and its restart, both excluded. Text after the start of the step is
   * included.
   */
  covers(position: ReaderPosition): boolean;
}

export interface SupersededScan extends Superseded {
  /** Reads the next entry of the feed. */
  see(entry: { readonly position: FeedPosition; readonly event: StreamEvent }): void;
}

interface Range {
  readonly epoch: string;
  readonly after: number;
  readonly before: number;
}

/**
 * Finds the events that a replay must omit. A replay passes the whole feed to it before it sends anything: an encoder gets
 * events one by one, and would send superseded text before it gets the restart. Elicitation events are never superseded, even
 * if they lie in such a range, because a repeated step finds its questions again.
 */
export function createSupersededScan(): SupersededScan {
  const ranges: Range[] = [];
  // The starts of steps that may still be restarted. A restart also supersedes later steps.
  let starts: { readonly step: number; readonly seq: number }[] = [];
  let epoch: string | undefined;
  return {
    see({ position, event }) {
      if (position.epoch !== epoch) starts = [];
      epoch = position.epoch;
      const turnEvent = turnEventOf(event);
      if (turnEvent?.type === 'step-started') {
        // A repeated step keeps its original start.
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
