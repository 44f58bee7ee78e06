import { type FeedPosition, isElicitationEvent, type ReaderPosition } from '@parley/core/domain/events';
import type { StreamRef } from '@parley/core/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createDetachmentScan, type Detachment } from './detachment.ts';
import { createSupersededScan, type Superseded } from './superseded.ts';
import type { Turns } from './turns.ts';

/** What must be known of a turn before the first event of a replay is sent. */
export interface ReplayFacts {
  readonly superseded: Superseded;
  readonly detachment?: Detachment;
  /** The last event of the feed when it was read; absent when it had none. */
  readonly last?: FeedPosition;
  /**
   * True when the feed does not hold what the reader has: Redis lost the event that it resumes after, or it is of another
   * feed, or the pod that published the text after that event died before it was appended.
   */
  readonly isPositionLost?: boolean;
}

/**
 * Reads a turn's feed as far as it goes; then, where its end allows that, whether the turn waits. `after` is the last
 * event that the reader has.
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
  // In this order: a wait that ended after the scan has events that the reader has yet to get.
  return {
    ...seen,
    detachment: { until, isWaiting: mayWait && (await turns.isWaiting(stream)) },
  };
}
