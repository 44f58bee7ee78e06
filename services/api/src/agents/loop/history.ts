import type { Message } from '@parley/shared/domain/runs/run';

/** What was said, without what a cut has left of a turn at its beginning: models refuse it. */
export function fromFirstUser(messages: readonly Message[]): readonly Message[] {
  const first = messages.findIndex(({ role }) => role === 'user');
  return first < 0 ? [] : messages.slice(first);
}
