import type { Message, RememberedMessage } from '@parley/shared/domain/runs/run';
import { withoutImages } from './images.ts';

const CUT = { type: 'text', text: '[This reply was stopped before its end.]' };

/**
 * The history as models read it. It says which of their replies were not finished, and omits images because of which a request
 * was refused.
 */
export function asModelReads(history: readonly RememberedMessage[]): readonly Message[] {
  const refused = history.findLastIndex(({ areEarlierImagesRefused }) => areEarlierImagesRefused);
  const messages = history.map(withoutMarks);
  return refused < 0 ? messages : [...withoutImages(messages.slice(0, refused)), ...messages.slice(refused)];
}

function withoutMarks({
  turn: _turn,
  areEarlierImagesRefused: _refused,
  isCut,
  ...message
}: RememberedMessage): Message {
  return isCut && Array.isArray(message.content)
    ? { ...message, content: [...message.content, CUT] }
    : message;
}

/** The messages from the first user message on. A truncated history may begin within a turn, which models refuse. */
export function fromFirstUser(messages: readonly Message[]): readonly Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : messages.slice(first);
}
