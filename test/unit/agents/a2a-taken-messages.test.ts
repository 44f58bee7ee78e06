import type { Elicitation } from '@parley/core/domain/elicitations/elicitation';
import { expect, it } from 'vitest';
import {
  createFindAnswerMessage,
  takenMessageName,
} from '../../../services/api/src/surfaces/a2a/taken-messages.ts';

const OWNER = { tenant: 'acme', userId: 'ada' };
const TASK = 'task';
const run = { ...OWNER, streamRequestId: TASK, conversationId: 'c' };
const question = (elicitationId: string) =>
  ({ elicitationId, status: 'declined', settledBy: { surface: 'a2a' } }) as Elicitation;

/** The records of a task, with one message that answered `known`, and how often they were listed. */
function site() {
  const sent = {
    messageId: 'm-known',
    surface: 'a2a',
    parts: [{ elicitationId: 'known', action: 'decline' }],
  };
  const stored = [{ name: takenMessageName(TASK, 'm-known'), value: JSON.stringify({ digest: 'd', sent }) }];
  const counts = { lists: 0 };
  const records = {
    now: async () => 100,
    async list() {
      counts.lists += 1;
      return stored;
    },
  };
  const engine = {
    read: async (_caller: unknown, id: string) => ({
      row: { definition: { mode: 'form' }, settlement: { responseId: `m-${id}` } },
    }),
  };
  const find = createFindAnswerMessage({ engine, records } as never, run as never, 'user');
  return { find, counts };
}

it('the messages of a task are listed once for all answers before, whether they are found or not', async () => {
  const { find, counts } = site();
  for (const id of ['old', 'older', 'oldest']) expect(await find(question(id), 50)).toBeUndefined();
  expect(await find(question('known'), 50)).toMatchObject({ messageId: 'm-known' });
  expect(counts.lists).toBe(1);
});

it('an answer after the list is looked for anew', async () => {
  const { find, counts } = site();
  for (const at of [50, 100, 200]) expect(await find(question('other'), at)).toBeUndefined();
  expect(counts.lists).toBe(3);
});
