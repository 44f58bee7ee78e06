import type { Message } from '@parley/shared/domain/runs/run';

/** The messages from the first user message on. A truncated history may begin inside a turn, which models refuse. */
export function fromFirstUser(messages: readonly Message[]): readonly Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : messages.slice(first);
}
