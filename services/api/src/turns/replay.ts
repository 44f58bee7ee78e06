import type { StreamRef } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { createDetachmentScan, type Detachment } from './detachment.ts';
import { createSupersededScan, type Superseded } from './superseded.ts';
import type { Turns } from './turns.ts';

/** What must be known of a turn before the first event of a replay is sent. */
export interface ReplayFacts {
  readonly superseded: Superseded;
  readonly detachment?: Detachment;
}

/** Reads a turn's feed as far as it goes; then, where its end allows that, whether the turn waits. */
export async function readReplayFacts(
  { engine, turns }: { readonly engine: Pick<Engine, 'replay'>; readonly turns: Pick<Turns, 'isWaiting'> },
  stream: StreamRef,
): Promise<ReplayFacts> {
  const superseded = createSupersededScan();
  const scan = createDetachmentScan();
  for await (const entry of engine.replay(stream)) {
    superseded.see(entry);
    scan.see(entry);
  }
  const { until, mayWait } = scan;
  if (until === undefined) return { superseded };
  // In this order: a wait that ended after the scan has events that the reader has yet to get.
  return { superseded, detachment: { until, isWaiting: mayWait && (await turns.isWaiting(stream)) } };
}
