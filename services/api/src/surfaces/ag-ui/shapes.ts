import { jsonLine } from '../../turns/plain.ts';
import type { AgUiMessage } from './input.ts';

/** The version of AG-UI that Parley speaks. */
export const PROTOCOL_VERSION = '1.0';

/** Something for which a run waits. */
export interface Interrupt {
  /** The id of the question or approval. */
  readonly id: string;
  readonly reason: 'input_required' | 'tool_call' | 'parley:open_page';
  readonly message: string;
  readonly toolCallId?: string;
  /** JSON Schema of the payload that answers it. */
  readonly responseSchema?: Readonly<Record<string, unknown>>;
  readonly expiresAt: string;
  /** `parley` is the question or approval in the form in which chats show it. */
  readonly metadata: { readonly parley: object };
}

type Outcome =
  | { readonly type: 'success' }
  | { readonly type: 'cancelled' }
  | { readonly type: 'interrupt'; readonly interrupts: readonly Interrupt[] };

interface RunIds {
  readonly threadId: string;
  readonly runId: string;
}

/** The events of AG-UI that Parley sends. */
export type AgUiEvent =
  | ({ readonly type: 'RUN_STARTED'; readonly protocolVersion: string } & RunIds)
  | ({
      readonly type: 'RUN_FINISHED';
      readonly outcome?: Outcome;
      readonly usage?: readonly { readonly inputTokens?: number; readonly outputTokens?: number }[];
    } & RunIds)
  | {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code: string;
      readonly metadata?: { readonly parley: object };
    }
  | { readonly type: 'TEXT_MESSAGE_START'; readonly messageId: string; readonly role: 'assistant' }
  | { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly messageId: string; readonly delta: string }
  | { readonly type: 'TEXT_MESSAGE_END'; readonly messageId: string }
  | {
      readonly type: 'TOOL_CALL_START';
      readonly toolCallId: string;
      readonly toolCallName: string;
      readonly parentMessageId: string;
    }
  | { readonly type: 'TOOL_CALL_ARGS'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'TOOL_CALL_END'; readonly toolCallId: string }
  | {
      readonly type: 'TOOL_CALL_RESULT';
      readonly messageId: string;
      readonly toolCallId: string;
      readonly role: 'tool';
      readonly content: string;
    }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: readonly (SentMessage | AgUiMessage)[] }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown };

export interface SentToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

/** A message that Parley produced. */
export type SentMessage =
  | { readonly id: string; readonly role: 'user'; readonly content: string }
  | {
      readonly id: string;
      readonly role: 'assistant';
      readonly content?: string;
      readonly toolCalls?: readonly SentToolCall[];
    }
  | { readonly id: string; readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

/** The id of a call in its thread. Parley's ids are unique only within a turn, but clients search all turns for a call. */
export function callIdIn(messageId: string, toolCallId: string): string {
  return `${messageId}.${toolCallId}`;
}

/** The tool call of a message. */
export function toolCallOf(id: string, name: string, input: unknown): SentToolCall {
  return { id, type: 'function', function: { name, arguments: jsonLine(input ?? {}) } };
}

/** The message of a call's result. */
export function toolMessageOf(toolCallId: string, output: unknown): SentMessage & { readonly role: 'tool' } {
  const content = typeof output === 'string' ? output : jsonLine(output ?? null);
  return { id: `${toolCallId}.result`, role: 'tool', toolCallId, content };
}
