import { CallerId } from '@parley/shared/domain/elicitations/ask-input';
import { ChatResponseInput } from '@parley/shared/domain/elicitations/response-input';
import { ParleyError } from '@parley/shared/domain/errors';
import type { Message } from '@parley/shared/domain/runs/run';
import { z } from 'zod';
import { check } from '../../http/input.ts';

const MESSAGES_MAX = 1_000;

// Parts of kinds that nobody here knows pass: clients send back what other servers and versions made.
const Part = z.looseObject({ type: z.string() });

const ChatMessage = z.looseObject({
  role: z.string(),
  parts: z.array(Part).optional(),
  content: z.unknown().optional(),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** A turn as chats of the AI SDK and alike ask for it. */
export const ChatInput = z
  .looseObject({
    id: CallerId.optional().describe('The conversation, as `useChat` names it.'),
    conversationId: CallerId.optional().describe('The conversation; wins over `id`.'),
    messages: z.array(ChatMessage).min(1).max(MESSAGES_MAX),
    agent: z.string().max(128).optional().describe('The agent to talk with; the default one when absent.'),
    stream: z.boolean().default(true),
  })
  .meta({ id: 'ChatInput' });
export type ChatInput = z.infer<typeof ChatInput>;

/** A turn as clients of OpenAI ask for it. `model` names the agent. */
export const CompletionInput = z
  .looseObject({
    model: z.string().min(1).max(128),
    messages: z.array(ChatMessage).min(1).max(MESSAGES_MAX),
    conversationId: CallerId.optional().describe('Goes on with this conversation; a new one when absent.'),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().optional() }).nullish(),
  })
  .meta({ id: 'CompletionInput' });
export type CompletionInput = z.infer<typeof CompletionInput>;

const AnswerPart = z.looseObject({
  type: z.literal('data-elicitation-response'),
  data: ChatResponseInput.omit({ conversationId: true }),
});
export type AnswerPart = z.infer<typeof AnswerPart>['data'];

/**
 * The answer that the last message carries, or nothing. Throws `invalid_request` when it is not well formed, and when
 * more comes with it that would be lost: a second answer, or text.
 */
export function answerIn(messages: readonly ChatMessage[]): AnswerPart | undefined {
  const last = messages.at(-1);
  const [part, ...more] = last?.parts?.filter(({ type }) => type === 'data-elicitation-response') ?? [];
  if (last === undefined || part === undefined) return undefined;
  const { data } = check(AnswerPart, part, 'body');
  const at = `messages.${messages.length - 1}`;
  if (more.length > 0) throw refused('Send each answer in a message of its own.', at, 'must hold one answer');
  if (textOf(last) !== '' || textOf({ content: last.content }) !== '') {
    throw refused('Send the answer and the text in messages of their own.', at, 'must hold no text');
  }
  return data;
}

/** What a turn answers: the text of the last message of the user; nothing when there is none. */
export function inputOf(messages: readonly ChatMessage[]): Message[] {
  const last = messages.at(-1);
  return last?.role === 'user' ? saidOf([last]) : [];
}

/** What was said before it, as far as a client may tell it: words, and nothing that passes for a tool's. */
export function beforeOf(messages: readonly ChatMessage[]): Message[] {
  return saidOf(messages.slice(0, -1));
}

function refused(detail: string, path: string, message: string): ParleyError {
  return new ParleyError('invalid_request', detail, { issues: [{ path, message }] });
}

function saidOf(messages: readonly ChatMessage[]): Message[] {
  return messages.flatMap((message) => {
    const { role } = message;
    const content = textOf(message);
    if ((role !== 'user' && role !== 'assistant') || content === '') return [];
    return [{ role, content }];
  });
}

function textOf({ parts, content }: Pick<ChatMessage, 'parts' | 'content'>): string {
  if (parts !== undefined) return parts.map(textOfPart).join('');
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(textOfPart).join('') : '';
}

function textOfPart(part: unknown): string {
  if (typeof part !== 'object' || part === null) return '';
  const { type, text } = part as { readonly type?: unknown; readonly text?: unknown };
  return type === 'text' && typeof text === 'string' ? text : '';
}
