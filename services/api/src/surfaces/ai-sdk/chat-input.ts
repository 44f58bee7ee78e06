import { CallerId } from '@parley/core/domain/elicitations/ask-input';
import { ParleyError } from '@parley/core/domain/errors';
import { ChatResponseInput } from '@parley/shared/domain/elicitations/response-input';
import { z } from 'zod';
import { check } from '../../http/check.ts';
import { type ChatMessage, ChatMessages, textOf } from '../../turns/messages.ts';

/** A request for a turn, in the format of the AI SDK's chats and similar clients. */
export const ChatInput = z
  .looseObject({
    id: CallerId.optional().describe('The conversation, as `useChat` names it.'),
    conversationId: CallerId.optional().describe('The conversation; wins over `id`.'),
    messages: ChatMessages,
    messageId: z
      .unknown()
      .optional()
      .describe(
        'The assistant’s message that the request continues with its decisions, where it is not the last.',
      ),
    agent: z.string().max(128).optional().describe('The agent to talk with; the default one when absent.'),
    stream: z.boolean().default(true),
  })
  .meta({ id: 'ChatInput' });

const AnswerPart = z.looseObject({
  type: z.literal('data-elicitation-response'),
  data: ChatResponseInput.omit({ conversationId: true }),
});
type AnswerPart = z.infer<typeof AnswerPart>['data'];

/**
 * The answer in the last message; undefined if there is none. Throws `invalid_request` if it is malformed, or if the message
 * also contains something that would be lost: a second answer, or text.
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

function refused(detail: string, path: string, message: string): ParleyError {
  return new ParleyError('invalid_request', detail, { issues: [{ path, message }] });
}
