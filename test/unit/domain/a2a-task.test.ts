import { createTaskFold, type TaskItem } from '@parley/shared/domain/a2a/task';
import type { WireMessage } from '@parley/shared/domain/a2a/wire';
import { expect, it } from 'vitest';

const ID = 'chosen-by-the-client';
const ref = { taskId: 'task', contextId: 'context' };

/** A message that answered, as it is after one of its answers. */
const answer = (messageId: string, ...said: string[]): WireMessage => ({
  ...ref,
  messageId,
  role: 'ROLE_USER',
  parts: said.map((text) => ({ text })),
});

function answered(elicitationId: string, answeredBy: WireMessage): TaskItem {
  const elicitation = { elicitationId, status: 'declined', mode: 'form', message: 'How?' };
  return { type: 'elicitation', at: 2, elicitation: elicitation as never, answeredBy };
}

it.each([
  ['the first message', ID],
  ['a message of the agent', 'task-2'],
])('an answer with the id of %s takes no place of it in the history', (_what, id) => {
  const fold = createTaskFold({ ...ref, text: 'begin' }, { text: 'whole' });
  const started = {
    type: 'turn-started',
    conversationId: 'c',
    messageId: 'm',
    agent: 'a',
    sent: { messageId: ID },
  };
  fold.take({ type: 'other', at: 1, event: started });
  fold.take({ type: 'other', at: 1, event: { type: 'step-started', step: 0 } });
  fold.take(answered('one', answer('other', 'other')));
  fold.take(answered('two', answer(id, 'first')));
  fold.take(answered('three', answer(id, 'first', 'second')));
  fold.take({ type: 'other', at: 3, event: { type: 'turn-finished', reason: 'stop' } });
  const { history = [] } = fold.task() ?? {};
  const texts = history.filter(({ role }) => role === 'ROLE_USER').map(({ parts }) => parts);
  expect(texts).toEqual([[{ text: 'begin' }], [{ text: 'other' }], [{ text: 'first' }, { text: 'second' }]]);
  expect(history.filter(({ role }) => role === 'ROLE_AGENT').map(({ messageId }) => messageId)).toEqual([
    'task-2',
    'task-3',
    'task-4',
  ]);
});
