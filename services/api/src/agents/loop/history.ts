import type { Message, RememberedMessage } from '@parley/shared/domain/runs/run';

const CUT = { type: 'text', text: '[This reply was stopped before its end.]' };

/** A message of the history as models read it: they learn that a reply of theirs was not finished. */
export function asModelReads({ turn: _turn, isCut, ...message }: RememberedMessage): Message {
  return isCut && Array.isArray(message.content)
    ? { ...message, content: [...message.content, CUT] }
    : message;
}

/** The messages from the first user message on. A truncated history may begin inside a turn, which models refuse. */
export function fromFirstUser(messages: readonly Message[]): readonly Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : messages.slice(first);
}
