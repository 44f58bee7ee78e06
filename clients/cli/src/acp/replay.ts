import type { ContentBlock, SessionUpdate } from '@agentclientprotocol/sdk';
import type { ChatChunk, ChatHistory } from '@parley/sdk/chat';
import { createTurnUpdates } from './updates.ts';

/** Converts the messages of a conversation to the updates that a live ACP client would have received. */
export function replayUpdates({ messages }: Pick<ChatHistory, 'messages'>): SessionUpdate[] {
  return messages.flatMap(({ id, role, parts }) => {
    if (role === 'user') {
      return parts.flatMap((part): SessionUpdate[] => {
        const content = sentContent(part);
        return content === undefined ? [] : [{ sessionUpdate: 'user_message_chunk', content, messageId: id }];
      });
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

type HistoryPart = ChatHistory['messages'][number]['parts'][number];

/** A part that a person sent, unchanged; an image that was sent by its address becomes a link. */
function sentContent(part: HistoryPart): ContentBlock | undefined {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type !== 'file') return undefined;
  const { mediaType, url, filename } = part;
  const [, data] = /^data:[^,]*;base64,(.*)$/.exec(url) ?? [];
  return data === undefined
    ? { type: 'resource_link', name: filename ?? 'image', uri: url }
    : { type: 'image', mimeType: mediaType, data };
}
