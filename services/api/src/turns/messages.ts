import { ParleyError } from '@parley/core/domain/errors';
import { countLeftOut, isLeftOut } from '@parley/shared/domain/runs/content';
import type { Message } from '@parley/shared/domain/runs/run';
import { z } from 'zod';
import { PARTS_MAX, readPart, textOfPart } from './content/read-part.ts';

const MESSAGES_MAX = 1_000;

/** A message in the format of chat clients. Its text is in `parts`, or in `content` as a string or a list of parts. */
export const ChatMessage = z.looseObject({
  role: z.string(),
  // Unknown kinds of parts are accepted, because clients send back what other servers and versions made.
  parts: z.array(z.looseObject({ type: z.string() })).optional(),
  content: z.unknown().optional(),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

/** The messages of a request, the newest last. */
export const ChatMessages = z.array(ChatMessage).min(1).max(MESSAGES_MAX);

/** The messages of a request for a turn. */
export interface TurnMessages {
  /** The last message, which the turn answers. */
  readonly input: readonly Message[];
  /** The earlier messages: those that users sent and assistants wrote. Nothing in them can pass for a tool's message. */
  readonly before: readonly Message[];
}

/** Splits the messages of a request. Throws `invalid_request` unless the last message is the user's and has content. */
export function readTurnMessages(messages: readonly ChatMessage[]): TurnMessages {
  const last = messages.at(-1);
  const input = last?.role === 'user' ? toMessages([last], messages.length - 1) : [];
  if (input.length > 0) return { input, before: toMessages(messages.slice(0, -1)) };
  throw new ParleyError('invalid_request', "The last message must be the user's, and hold text or a file.", {
    issues: [
      { path: `messages.${messages.length - 1}`, message: 'must be a user message with text or a file' },
    ],
  });
}

/** The text of a message; empty if it has none. */
export function textOf({ parts, content }: Pick<ChatMessage, 'parts' | 'content'>): string {
  if (parts !== undefined) return parts.map(textOfPart).join('');
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(textOfPart).join('') : '';
}

/** True for a message that contains text or a file. */
export function holdsContent(message: ChatMessage): boolean {
  const sent = message.parts ?? message.content;
  return textOf(message) !== '' || (Array.isArray(sent) && sent.some((part) => readPart(part) !== undefined));
}

function toMessages(messages: readonly ChatMessage[], first = 0): Message[] {
  return messages.flatMap((message, index) => {
    const { role } = message;
    const content = role === 'user' ? contentOf(message, first + index) : textOf(message);
    if ((role !== 'user' && role !== 'assistant') || content.length === 0) return [];
    return [{ role, content }];
  });
}

/** The content that a person sent; a plain text if there is nothing else. */
function contentOf(message: ChatMessage, index: number): Message['content'] & { readonly length: number } {
  const sent = message.parts ?? message.content;
  if (!Array.isArray(sent)) return textOf(message);
  if (sent.length > PARTS_MAX)
    throw new ParleyError('invalid_request', `A message must have at most ${PARTS_MAX} parts.`, {
      issues: [{ path: `messages.${index}`, message: `must have at most ${PARTS_MAX} parts` }],
    });
  const parts = sent.map(readPart).filter((part) => part !== undefined);
  const isText = parts.every((part) => part.type === 'text' && !isLeftOut(part));
  return isText ? textOf(message) : countLeftOut(parts);
}
