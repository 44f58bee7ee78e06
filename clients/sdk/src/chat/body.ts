import { ParleyClientError } from '@parley/core';
import type { UIMessage } from 'ai';

/** A message before the last one, reduced to what the server reads. */
interface EarlierMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly { readonly type: 'text'; readonly text: string }[];
}

/** Earlier messages must leave room for the last one, and stay below the server's limit of 1000 messages. */
const EARLIER_BYTES_MAX = 100_000;
const EARLIER_MESSAGES_MAX = 200;
const ANSWER = 'data-elicitation-response';

/** Whether the last message answers a question. */
export function isAnswer(messages: readonly UIMessage[]): boolean {
  return messages.at(-1)?.parts.some(({ type }) => type === ANSWER) === true;
}

/**
 * The body of a chat's request: the whole last message, and the text of those before it, for a server that does not know
 * the conversation. It is a copy, so later changes of the chat do not affect it. Throws `invalid_request` for values that
 * JSON cannot express.
 */
export function chatBody(chatId: string, messages: readonly UIMessage[], more: object): object {
  const posted = [...newestThatFit(messages.slice(0, -1)), ...messages.slice(-1)];
  try {
    return JSON.parse(JSON.stringify({ ...more, id: chatId, messages: posted }));
  } catch {
    // The cause is left out: its message may repeat the person's text.
    throw new ParleyClientError('invalid_request', 'The message contains a value that JSON cannot express.');
  }
}

/** The newest of these messages that fit into the limits, in their order. */
function newestThatFit(messages: readonly UIMessage[]): EarlierMessage[] {
  const taken: EarlierMessage[] = [];
  const encoder = new TextEncoder();
  let remainingBytes = EARLIER_BYTES_MAX;
  for (const message of messages.toReversed()) {
    const reduced = textOnly(message);
    if (reduced === undefined) continue;
    remainingBytes -= encoder.encode(JSON.stringify(reduced)).length;
    if (remainingBytes < 0 || taken.length === EARLIER_MESSAGES_MAX) break;
    taken.push(reduced);
  }
  return taken.reverse();
}

function textOnly({ role, parts }: UIMessage): EarlierMessage | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [{ type: part.type, text: part.text }] : []));
  return role === 'system' || texts.length === 0 ? undefined : { role, parts: texts };
}
