import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { ChatChunk } from '@parley/sdk/chat';

/** Converts the chunks of one turn to ACP updates. */
interface TurnUpdates {
  /** The updates for the next chunk; none for questions and the end of the turn. */
  take(chunk: ChatChunk): readonly SessionUpdate[];
  /** The update for a paragraph that this program adds itself. */
  paragraph(text: string): SessionUpdate;
}

const GAP = '\n\n';

/** Converts chunks to updates. Each block of text becomes a paragraph of one message. */
export function createTurnUpdates(): TurnUpdates {
  let messageId: string | undefined;
  let lastBlock: unknown;

  function textUpdate(block: unknown, text: string): SessionUpdate {
    const gap = lastBlock === undefined || lastBlock === block ? '' : GAP;
    lastBlock = block;
    return {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: `${gap}${text}` },
      ...(messageId !== undefined && { messageId }),
    };
  }

  function end(toolCallId: string, status: 'completed' | 'failed', output: unknown): SessionUpdate[] {
    const content = contentOf(output);
    return [{ sessionUpdate: 'tool_call_update', toolCallId, status, rawOutput: output, content }];
  }

  return {
    paragraph: (text) => textUpdate({}, text),
    take(chunk) {
      switch (chunk.type) {
        case 'start':
          messageId = chunk.messageId;
          return [];
        case 'text-delta':
          return [textUpdate(chunk.id, chunk.delta)];
        case 'tool-input-available': {
          const { toolCallId, toolName, input } = chunk;
          const shown = { title: toolName, name: toolName, kind: 'other', status: 'in_progress' } as const;
          return [{ sessionUpdate: 'tool_call', toolCallId, ...shown, rawInput: input }];
        }
        case 'tool-output-available':
          if (chunk.preliminary === true) return [];
          return end(chunk.toolCallId, 'completed', chunk.output);
        case 'tool-output-error':
          return end(chunk.toolCallId, 'failed', chunk.errorText);
        default:
          return [];
      }
    },
  };
}

function contentOf(output: unknown): ToolCallContent[] {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  return [{ type: 'content', content: { type: 'text', text } }];
}
