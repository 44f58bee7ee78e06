import type { StreamRef } from '@parley/shared/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import { type BufferedMessage, createBufferedTurn } from '../buffered.ts';
import { createTurnReader } from '../follow.ts';
import { readReplayFacts } from '../replay.ts';
import type { Turns } from '../turns.ts';
import { createApprovalWait } from './wait.ts';

/**
 * The reply of a turn whose stream has ended for approvals: what the stream showed up to that end. Undefined where something
 * else of the turn is outstanding. Throws `unavailable`.
 */
export async function readWaitingReply(
  deps: { readonly engine: Pick<Engine, 'replay' | 'replayItems'>; readonly turns: Pick<Turns, 'isWaiting'> },
  stream: StreamRef,
): Promise<BufferedMessage | undefined> {
  const read = createTurnReader({ facts: await readReplayFacts(deps, stream) });
  const reply = createBufferedTurn();
  const wait = createApprovalWait();
  for await (const item of deps.engine.replayItems(stream)) {
    for (const event of read(item)) {
      if (reply.take(event)) return undefined;
      if (event.type === 'turn') wait.turn(event.event);
      if (event.type !== 'approval') continue;
      const { approvalId, toolCallId, status } = event.approval;
      wait.approval(approvalId, toolCallId, status === 'pending' && !event.isOver);
    }
  }
  return wait.isAll() ? reply.message() : undefined;
}
