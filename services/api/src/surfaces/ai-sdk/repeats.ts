import { createHash } from 'node:crypto';
import { type FeedPosition, parseFeedPosition } from '@parley/shared/domain/events';
import type { Message, RunRef } from '@parley/shared/domain/runs/run';
import { turnEventOf } from '@parley/shared/domain/runs/turn-events';
import type { StreamItem } from '@parley/shared/elicitations/watch';
import type { Repeatable } from '../../agents/loop/turn-work.ts';
import { idempotencyKeyIn, REPLAYED } from '../../http/idempotency.ts';
import type { Call } from '../../http/route.ts';
import { type Encoded, type Encoder, silent } from '../../turns/encoder.ts';
import type { ReplayFacts } from '../../turns/follow.ts';
import type { Turns } from '../../turns/turns.ts';

export const CONVERSATION_HEADER = 'x-conversation-id';

type Item = Exclude<StreamItem, { type: 'reset' }>;

/** What a turn is asked for with, as the client has it. */
export interface AskedTurn {
  readonly agent: string | undefined;
  readonly conversationId: string | undefined;
  readonly before: readonly Message[];
  readonly input: readonly Message[];
}

/** What the call's `Idempotency-Key` makes of it; nothing without one. Throws `invalid_request`. */
export function repeatableOf(header: Call['header'], asked: AskedTurn): Repeatable | undefined {
  const key = idempotencyKeyIn(header);
  if (key === undefined) return undefined;
  const { agent = null, conversationId = null, before, input } = asked;
  const text = JSON.stringify([agent, conversationId, before, input]);
  return { key, digest: createHash('sha256').update(text).digest('base64url') };
}

/** What the reply says of the turn that it is about. */
export function turnHeaders(
  run: Pick<RunRef, 'conversationId'> & Pick<Awaited<ReturnType<Turns['begin']>>, 'isRepeat'>,
): Record<string, string> {
  return { [CONVERSATION_HEADER]: run.conversationId, ...(run.isRepeat && REPLAYED) };
}

/**
 * An encoder for a reader that comes back, in a format that has no way back of its own: what a restart made void is left
 * out; and up to where the reader came to, a detachment is no end; there it is, while the turn waits.
 */
export function encoderForReturn(encoder: Encoder, { superseded, detachment }: ReplayFacts): Encoder {
  const until = detachment?.until;
  const isPassed = ({ epoch, seq }: FeedPosition) => epoch === until?.epoch && seq <= until.seq;

  function isLeftOut(item: Item, position: FeedPosition): boolean {
    if (item.type !== 'other') return false;
    const isDetachment = turnEventOf(item.event)?.type === 'turn-detached';
    return superseded.covers(position) || (isDetachment && isPassed(position));
  }

  function told(item: Item, position: FeedPosition): Encoded {
    const encoded = isLeftOut(item, position) ? silent('more') : encoder.encode(item);
    const isLast = isPassed(position) && position.seq === until?.seq;
    if (detachment?.isWaiting !== true || !isLast || encoded.next !== 'more') return encoded;
    const end = encoder.encode({ type: 'other', id: item.id, event: { type: 'turn-detached' } });
    return { ...end, frames: [...encoded.frames, ...end.frames] };
  }

  return {
    encode(item) {
      const position = item.type === 'reset' ? undefined : parseFeedPosition(item.id);
      return item.type === 'reset' || position === undefined ? encoder.encode(item) : told(item, position);
    },
  };
}
