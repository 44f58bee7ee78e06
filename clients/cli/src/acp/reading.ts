import { RequestError, type StopReason } from '@agentclientprotocol/sdk';
import { type ChatChunk, isChatStreamError } from '@parley/sdk/chat';
import { isRecord } from '@parley/shared/domain/plain-record';

/** One reading of a turn. */
export type Chunks = ReadableStream<ChatChunk>;

/**
 * How a reading ended. `waiting`: the turn was detached and waits for its person. `reset`: the turn has to be read again
 * from its start.
 */
export type Reading =
  | { readonly type: 'ended'; readonly reason: StopReason }
  | { readonly type: 'waiting' | 'reset' };

/** Of the finish reasons that chats know; every other one is an ordinary end. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  length: 'max_tokens',
  'tool-calls': 'max_turn_requests',
  'content-filter': 'refusal',
  other: 'cancelled',
};
const INTERNAL = -32603;

/** Reads a turn to its end. Rejects with RequestError for a turn that failed, and with ChatStreamError. */
export async function readTurn(chunks: Chunks, take: (chunk: ChatChunk) => Promise<void>): Promise<Reading> {
  let code: unknown;
  let failure: string | undefined;
  try {
    for await (const chunk of chunks) {
      await take(chunk);
      if (chunk.type === 'data-turn-failed') code = isRecord(chunk.data) ? chunk.data.code : undefined;
      if (chunk.type === 'error') failure = chunk.errorText;
      if (chunk.type !== 'finish') continue;
      if (failure !== undefined) throw new RequestError(INTERNAL, failure, { code });
      if (isWaiting(chunk.messageMetadata)) return { type: 'waiting' };
      return { type: 'ended', reason: STOP_REASONS[chunk.finishReason ?? 'stop'] ?? 'end_turn' };
    }
  } catch (error) {
    if (!isChatStreamError(error, 'stream-reset')) throw error;
    return { type: 'reset' };
  }
  return { type: 'ended', reason: 'end_turn' };
}

function isWaiting(metadata: unknown): boolean {
  const parley = isRecord(metadata) ? metadata.parley : undefined;
  return isRecord(parley) && parley.state === 'waiting';
}
