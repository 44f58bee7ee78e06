import { ParleyClientError } from '@parley/core';
import type { UIMessage } from 'ai';

/** A message before the last one, reduced to the parts that the server reads. */
interface EarlierMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly object[];
}

/** Earlier messages must leave room for the last one, and their number must stay below the server's limit of 1000. */
const EARLIER_BYTES_MAX = 100_000;
const EARLIER_MESSAGES_MAX = 200;
const ANSWER = 'data-elicitation-response';

/** Whether the last message answers a question. */
export function isAnswer(messages: readonly UIMessage[]): boolean {
  return messages.at(-1)?.parts.some(({ type }) => type === ANSWER) === true;
}

/**
 * The body of a chat's request: the whole last message; the text of the earlier ones, for a server that does not know the
 * conversation; and unsent decisions. `messageId` names the message that the AI SDK continues, and is sent with such decisions.
 * The body is a copy, so later changes of the chat do not affect it. Throws `invalid_request` for values that JSON cannot
 * express.
 */
export function chatBody(
  chatId: string,
  messages: readonly UIMessage[],
  more: object,
  messageId?: string,
): object {
  const posted = [...newestThatFit(messages.slice(0, -1)), ...messages.slice(-1)];
  const isContinued = messages.some(({ id, parts }) => id === messageId && parts.some(isDecision));
  const body = { ...more, id: chatId, messages: posted, ...(isContinued && { messageId }) };
  try {
    return JSON.parse(JSON.stringify(body));
  } catch {
    // The cause is omitted, because its message may repeat the person's text.
    throw new ParleyClientError('invalid_request', 'The message contains a value that JSON cannot express.');
  }
}

/** The newest of these messages within the limits, in their order. */
function newestThatFit(messages: readonly UIMessage[]): EarlierMessage[] {
  const taken: EarlierMessage[] = [];
  const encoder = new TextEncoder();
  let remainingBytes = EARLIER_BYTES_MAX;
  for (const message of messages.toReversed()) {
    const reduced = reducedOf(message);
    if (reduced === undefined) continue;
    remainingBytes -= encoder.encode(JSON.stringify(reduced)).length;
    if (remainingBytes < 0 || taken.length === EARLIER_MESSAGES_MAX) break;
    taken.push(reduced);
  }
  return taken.reverse();
}

function reducedOf({ id, role, parts }: UIMessage): EarlierMessage | undefined {
  const sent = parts.flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: part.type, text: part.text }];
    if (!isDecision(part)) return [];
    const { type, toolCallId, state, approval } = part;
    return [{ type, toolCallId, state, approval }];
  });
  return role === 'system' || sent.length === 0 ? undefined : { id, role, parts: sent };
}

type Part = UIMessage['parts'][number];

/** True for the person's decision on a call that has no outcome yet. */
function isDecision(part: Part): part is Extract<Part, { toolCallId: string }> {
  return 'state' in part && part.state === 'approval-responded';
}
