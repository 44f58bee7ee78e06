import type { FeedPosition } from '@parley/shared/domain/events';
import type { StreamRef } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createDetachmentScan, type Detachment } from './detachment.ts';
import { createSupersededScan, type Superseded } from './superseded.ts';
import type { Turns } from './turns.ts';

/** What must be known of a turn before the first event of a replay is sent. */
export interface ReplayFacts {
  readonly superseded: Superseded;
  readonly detachment?: Detachment;
  /** True when the feed does not hold the event that the reader resumes after: Redis lost it, or it is of another feed. */
  readonly isPositionLost?: boolean;
}

/**
 * Reads a turn's feed as far as it goes; then, where its end allows that, whether the turn waits. `after` is the last
 * event that the reader has.
 */
export async function readReplayFacts(
  { engine, turns }: { readonly engine: Pick<Engine, 'replay'>; readonly turns: Pick<Turns, 'isWaiting'> },
  stream: StreamRef,
  after?: FeedPosition,
): Promise<ReplayFacts> {
  let isPositionLost = after !== undefined;
  const superseded = createSupersededScan();
  const scan = createDetachmentScan();
  for await (const entry of engine.replay(stream)) {
    superseded.see(entry);
    scan.see(entry);
    const { epoch, seq } = entry.position;
    if (epoch === after?.epoch && seq === after.seq) isPositionLost = false;
  }
  const { until, mayWait } = scan;
  if (until === undefined) return { superseded, isPositionLost };
  // In this order: a wait that ended after the scan has events that the reader has yet to get.
  return {
    superseded,
    isPositionLost,
    detachment: { until, isWaiting: mayWait && (await turns.isWaiting(stream)) },
  };
}
