import type { StreamRef } from '@parley/core/domain/ids';
import type { ConversationRef } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import { type BufferedMessage, createBufferedTurn } from '../buffered.ts';
import { createTurnReader } from '../follow.ts';
import type { ConversationHistory } from '../history.ts';
import { readReplayFacts } from '../replay.ts';
import type { Turns } from '../turns.ts';
import { createApprovalWait } from './wait.ts';

interface WaitingReplyDeps {
  readonly engine: Pick<Engine, 'replay' | 'replayItems'>;
  readonly turns: Pick<Turns, 'history' | 'resumable' | 'isWaiting'>;
}

/**
 * Reads a conversation. If its turn waits only for approvals, the turn's reply so far is the last message. Throws `not_found`
 * if nothing was ever said, and `unavailable`.
 */
export async function readHistoryWithReply(
  deps: WaitingReplyDeps,
  conversation: ConversationRef,
): Promise<ConversationHistory> {
  const history = await deps.turns.history(conversation);
  if (!history.isRunning) return history;
  const stream = await deps.turns.resumable(conversation, undefined);
  const reply = stream && (await readWaitingReply(deps, stream));
  // The turn may have ended since its history was read.
  if (reply === undefined) return deps.turns.history(conversation);
  return { ...history, messages: [...history.messages, reply] };
}

/**
 * The parts that the stream of a turn showed until it ended to wait for approvals. Undefined if something else in the turn is
 * outstanding.
 */
export async function readWaitingReply(
  deps: Pick<WaitingReplyDeps, 'engine'> & { readonly turns: Pick<Turns, 'isWaiting'> },
  stream: StreamRef,
): Promise<BufferedMessage | undefined> {
  const read = createTurnReader({ facts: await readReplayFacts(deps, stream) });
  const reply = createBufferedTurn();
  const wait = createApprovalWait();
  for await (const item of deps.engine.replayItems(stream)) {
    for (const event of read(item)) {
      if (reply.take(event)) return undefined;
      wait.followed(event);
    }
  }
  return wait.isAll() ? reply.message() : undefined;
}
