import type { UIMessage } from 'ai';
import { ParleyClientError } from '../errors.ts';

/** A message of before the last, as far as the server reads it. */
interface EarlierMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly { readonly type: 'text'; readonly text: string }[];
}

/** All that is posted has to stay well below the server's limits of 262144 bytes and 1000 messages. */
const EARLIER_BYTES_MAX = 100_000;
const EARLIER_MESSAGES_MAX = 200;
const ANSWER = 'data-elicitation-response';

/** Whether the last message answers a question. */
export function isAnswer(messages: readonly UIMessage[]): boolean {
  return messages.at(-1)?.parts.some(({ type }) => type === ANSWER) === true;
}

/**
 * What is posted of a chat: the last message whole, and what was said before it, for a server that does not know the
 * conversation. A copy: what the chat changes later is not in it. Throws `invalid_request` for what JSON cannot hold.
 */
export function chatBody(chatId: string, messages: readonly UIMessage[], more: object): object {
  const posted = [...earlierOf(messages.slice(0, -1)), ...messages.slice(-1)];
  try {
    return JSON.parse(JSON.stringify({ ...more, id: chatId, messages: posted }));
  } catch {
    // The cause is left out: its message may repeat what was written.
    throw new ParleyClientError('invalid_request', 'The message holds what cannot be sent as JSON.');
  }
}

/** The newest of these that fit, in their order. */
function earlierOf(messages: readonly UIMessage[]): EarlierMessage[] {
  const taken: EarlierMessage[] = [];
  const encoder = new TextEncoder();
  let bytesLeft = EARLIER_BYTES_MAX;
  for (const message of messages.toReversed()) {
    const said = saidIn(message);
    if (said === undefined) continue;
    bytesLeft -= encoder.encode(JSON.stringify(said)).length;
    if (bytesLeft < 0 || taken.length === EARLIER_MESSAGES_MAX) break;
    taken.push(said);
  }
  return taken.reverse();
}

function saidIn({ role, parts }: UIMessage): EarlierMessage | undefined {
  const texts = parts.flatMap((part) => (part.type === 'text' ? [{ type: part.type, text: part.text }] : []));
  return role === 'system' || texts.length === 0 ? undefined : { role, parts: texts };
}
