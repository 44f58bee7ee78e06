import type { SessionUpdate, ToolCallContent } from '@agentclientprotocol/sdk';
import type { ChatChunk } from '@parley/sdk/chat';

/** What the chunks of one turn become, over as many readings of the turn as it takes. */
export interface TurnUpdates {
  /** The updates for the next chunk of the current reading. Questions and the end of the turn are none. */
  take(chunk: ChatChunk): readonly SessionUpdate[];
  /** A paragraph of this program itself, as an update. */
  paragraph(text: string): SessionUpdate;
  /** The turn is read again from its start: what the client has is not sent again. */
  restart(): void;
}

interface TextBlock {
  /** What the client has. */
  sent: string;
  /** What the current reading has brought. */
  read: string;
}

interface ToolState {
  readonly toolName: string;
  input?: unknown;
  status: 'pending' | 'in_progress' | 'completed' | 'failed';
}

const GAP = '\n\n';

/** ACP cannot take text back. When a block begins differently at the second reading, it is sent as a new paragraph. */
export function createTurnUpdates(): TurnUpdates {
  const blocks = new Map<string, TextBlock>();
  const tools = new Map<string, ToolState>();
  let messageId: string | undefined;
  let lastBlock: string | undefined;

  function textUpdate(id: string, text: string): SessionUpdate {
    const gap = lastBlock === undefined || lastBlock === id ? '' : GAP;
    lastBlock = id;
    return {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: `${gap}${text}` },
      ...(messageId !== undefined && { messageId }),
    };
  }

  function add(id: string, delta: string): SessionUpdate[] {
    const block = blocks.get(id) ?? { sent: '', read: '' };
    blocks.set(id, block);
    block.read += delta;
    if (block.sent.startsWith(block.read)) return [];
    const continues = block.read.startsWith(block.sent);
    const text = continues ? block.read.slice(block.sent.length) : `${GAP}${block.read}`;
    block.sent = block.read;
    return [textUpdate(id, text)];
  }

  function finish(toolCallId: string, status: 'completed' | 'failed', output: unknown): SessionUpdate[] {
    const tool = tools.get(toolCallId);
    if (tool === undefined || tool.status === status) return [];
    tool.status = status;
    const content = contentOf(output);
    return [{ sessionUpdate: 'tool_call_update', toolCallId, status, rawOutput: output, content }];
  }

  return {
    paragraph: (text) => textUpdate(`own ${blocks.size} ${text}`, text),
    restart() {
      for (const block of blocks.values()) block.read = '';
    },
    take(chunk) {
      switch (chunk.type) {
        case 'start':
          messageId = chunk.messageId;
          return [];
        case 'text-delta':
          return add(chunk.id, chunk.delta);
        case 'tool-input-available': {
          const { toolCallId, toolName, input } = chunk;
          if (tools.has(toolCallId)) return [];
          tools.set(toolCallId, { toolName, input, status: 'in_progress' });
          const shown = { title: toolName, name: toolName, kind: 'other', status: 'in_progress' } as const;
          return [{ sessionUpdate: 'tool_call', toolCallId, ...shown, rawInput: input }];
        }
        case 'tool-output-available':
          return finish(chunk.toolCallId, 'completed', chunk.output);
        case 'tool-output-error':
          return finish(chunk.toolCallId, 'failed', chunk.errorText);
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
