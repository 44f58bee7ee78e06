import { RequestError, type StopReason } from '@agentclientprotocol/sdk';
import { isRecord } from '@parley/core/domain/plain-record';
import type { ChatChunk } from '@parley/sdk/chat';

/** The finish reasons with their own stop reason; every other one is an ordinary end. */
const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  length: 'max_tokens',
  'tool-calls': 'max_turn_requests',
  'content-filter': 'refusal',
  other: 'cancelled',
};
const INTERNAL = -32603;

/** Reads a turn to its end. Rejects with RequestError for a failed turn, and with any error of `chunks`. */
export async function readTurn(
  chunks: AsyncIterable<ChatChunk>,
  take: (chunk: ChatChunk) => Promise<void>,
): Promise<StopReason> {
  let code: unknown;
  let failure: string | undefined;
  for await (const chunk of chunks) {
    await take(chunk);
    if (chunk.type === 'data-turn-failed') code = isRecord(chunk.data) ? chunk.data.code : undefined;
    if (chunk.type === 'error') failure = chunk.errorText;
    if (chunk.type !== 'finish') continue;
    if (failure !== undefined) throw new RequestError(INTERNAL, failure, { code });
    return STOP_REASONS[chunk.finishReason ?? 'stop'] ?? 'end_turn';
  }
  return 'end_turn';
}
