import { type FeedPosition, isElicitationEvent, type ReaderPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createDetachmentScan, type Detachment } from './detachment.ts';
import { createSupersededScan, type Superseded } from './superseded.ts';
import type { Turns } from './turns.ts';

/** The facts about a turn that must be known before the first event of a replay is sent. */
export interface ReplayFacts {
  readonly superseded: Superseded;
  readonly detachment?: Detachment;
  /** The last event of the feed at the time of reading; absent for an empty feed. */
  readonly last?: FeedPosition;
  /**
   * True if the feed does not contain what the reader has. Redis lost the event after which the reader resumes, the event is
   * from another feed, or a pod died before appending the text that it had published after the event.
   */
  readonly isPositionLost?: boolean;
}

/**
 * Reads a turn's feed to its present end. If the end permits it, then checks whether the turn waits. `after` is the last event
 * that the reader has.
 */
export async function readReplayFacts(
  { engine, turns }: { readonly engine: Pick<Engine, 'replay'>; readonly turns: Pick<Turns, 'isWaiting'> },
  stream: StreamRef,
  after?: ReaderPosition,
): Promise<ReplayFacts> {
  let isPositionLost = after !== undefined;
  let isTextNext = false;
  let last: FeedPosition | undefined;
  const superseded = createSupersededScan();
  const scan = createDetachmentScan();
  for await (const entry of engine.replay(stream)) {
    last = entry.position;
    superseded.see(entry);
    scan.see(entry);
    if (isTextNext && !isElicitationEvent(entry.event)) {
      isTextNext = false;
      isPositionLost = entry.event.type !== 'text-delta';
    }
    const { epoch, seq } = entry.position;
    if (epoch !== after?.epoch || seq !== after.seq) continue;
    isPositionLost = false;
    isTextNext = after.characters !== undefined;
  }
  const { until, mayWait } = scan;
  const seen = { superseded, isPositionLost, ...(last !== undefined && { last }) };
  if (until === undefined) return seen;
  // The wait is checked after the scan: if it has ended by then, the reader still has to get the events that followed.
  return {
    ...seen,
    detachment: { until, isWaiting: mayWait && (await turns.isWaiting(stream)) },
  };
}
