import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { ChatChunk, ChatHistory } from '@parley/sdk/chat';
import { createTurnUpdates } from './updates.ts';

/** The messages of a conversation, as the updates that an ACP client would have got. */
export function replayUpdates({ messages }: Pick<ChatHistory, 'messages'>): SessionUpdate[] {
  return messages.flatMap(({ id, role, parts }) => {
    if (role === 'user') {
      return parts.flatMap((part): SessionUpdate[] =>
        part.type === 'text'
          ? [
              {
                sessionUpdate: 'user_message_chunk',
                content: { type: 'text', text: part.text },
                messageId: id,
              },
            ]
          : [],
      );
    }
    const updates = createTurnUpdates();
    const chunks = parts.flatMap((part, at): ChatChunk[] => {
      if (part.type === 'text') return [{ type: 'text-delta', id: `${at}`, delta: part.text }];
      if (part.type !== 'dynamic-tool') return [];
      const { toolCallId, toolName, input } = part;
      const call: ChatChunk = { type: 'tool-input-available', toolCallId, toolName, input };
      if (part.state === 'output-available')
        return [call, { type: 'tool-output-available', toolCallId, output: part.output }];
      return part.state === 'output-error'
        ? [call, { type: 'tool-output-error', toolCallId, errorText: part.errorText }]
        : [call];
    });
    return [{ type: 'start', messageId: id } as const, ...chunks].flatMap((chunk) => updates.take(chunk));
  });
}
