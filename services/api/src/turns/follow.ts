import { randomUUID } from 'node:crypto';
import type { StreamRef } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { StreamItem } from '@parley/shared/elicitations/watch';
import { onLeaving } from '../http/leaving.ts';
import type { CallLimits } from '../http/limits.ts';
import type { Call, Reply } from '../http/route.ts';
import type { Frame } from '../http/sse.ts';
import { createDetachmentScan, type Detachment } from './detachment.ts';
import { type Encoder, encodeTurn } from './encoder.ts';
import { createSupersededScan, type Superseded } from './superseded.ts';
import type { Turns } from './turns.ts';

export interface TurnStreamDeps {
  readonly engine: Engine;
  readonly limits: CallLimits;
  readonly turns: Pick<Turns, 'attend'>;
}

/** A turn to stream, and how. */
export interface TurnView {
  readonly stream: StreamRef;
  readonly encoder: Encoder;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Streams a turn to one reader, from any pod: its feed from the first event on, in the encoder's format. Takes the
 * reader's place before `open` begins or finds the turn.
 */
export async function streamTurn(
  { engine, limits, turns }: TurnStreamDeps,
  { caller, signal }: Pick<Call, 'caller' | 'signal'>,
  open: () => Promise<TurnView>,
): Promise<Reply> {
  const leave = onLeaving(signal, await limits.stream(caller, randomUUID()));
  try {
    const { stream, encoder, headers } = await open();
    const unattend = onLeaving(signal, turns.attend(stream));
    const items = await engine.watch({ stream, evenIfSilent: true, signal });
    const left = () => {
      unattend();
      leave();
    };
    return { type: 'events', headers, events: framesOf(items, encoder, left, signal) };
  } catch (error) {
    leave();
    throw error;
  }
}

async function* framesOf(
  items: AsyncIterable<StreamItem>,
  encoder: Encoder,
  leave: () => void,
  signal: AbortSignal,
): AsyncGenerator<Frame, 'end' | 'cut'> {
  try {
    return yield* encodeTurn(items, encoder);
  } catch (error) {
    if (!signal.aborted) throw error;
    return 'cut';
  } finally {
    leave();
  }
}

/** What a replay of a turn has to know before the first of it is sent. */
export interface ReplayFacts {
  readonly superseded: Superseded;
  readonly detachment?: Detachment;
}

/** Reads a turn's feed as far as it goes; and then, where that may be, whether the turn waits. */
export async function scanOf(
  { engine, turns }: { readonly engine: Engine; readonly turns: Pick<Turns, 'isWaiting'> },
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
  // In this order: what has ended since was not told yet, and the reader stays for it.
  return { superseded, detachment: { until, isWaiting: mayWait && (await turns.isWaiting(stream)) } };
}

/** The items of a turn for a caller that waits for all of it. */
export async function wholeTurn(
  { engine, turns }: Pick<TurnStreamDeps, 'engine' | 'turns'>,
  stream: StreamRef,
  signal: AbortSignal,
  take: (item: StreamItem) => boolean,
): Promise<void> {
  const unattend = turns.attend(stream);
  try {
    for await (const item of await engine.watch({ stream, evenIfSilent: true, signal })) {
      if (take(item)) return;
    }
  } finally {
    unattend();
  }
}
