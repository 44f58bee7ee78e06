import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { RememberedMessage } from '@parley/shared/domain/runs/run';
import { expect, it } from 'vitest';
import { readHistory } from '../../../services/api/src/turns/history.ts';

const CONVERSATION = { tenant: 'acme', userId: 'u1', conversationId: 'c1' };
// A model that numbers its calls anew in each step.
const CALL = 'call_0';

/** A turn in which the model called the tool `bank__pay`, once in each step, and then said how it went. */
function turn(id: string | undefined, ...amounts: number[]): RememberedMessage[] {
  const steps = amounts.flatMap((amount): RememberedMessage[] => [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: CALL, toolName: 'bank__pay', input: { amount } }],
    },
    { role: 'tool', content: [{ toolCallId: CALL, output: { type: 'json', value: `paid ${amount}` } }] },
  ]);
  const messages: RememberedMessage[] = [
    { role: 'user', content: 'Go on.' },
    ...steps,
    { role: 'assistant', content: 'Done.' },
  ];
  return messages.map((message) => ({ ...message, ...(id !== undefined && { turn: id }) }));
}

/** An approval of a call: its server calls the tool `pay`. */
interface Given {
  readonly id: string;
  readonly turn: string;
  readonly call?: string;
  readonly status?: string;
}

/** The messages that the page shows, with the given approvals, oldest first. */
async function shownWith(messages: RememberedMessage[], approvals: Given[], running?: string) {
  const rows = approvals.map(({ id, turn: streamRequestId, call = CALL, status = 'approved' }) => ({
    id,
    definition: {
      ...CONVERSATION,
      streamRequestId,
      toolCallId: call,
      step: '0',
      agent: 'Agent',
      tool: { server: 'bank', name: 'pay' },
      arguments: {},
      masked: [],
    },
    status,
    createdAt: 1,
    expiresAt: 2,
  }));
  const deps = {
    engine: {
      approvals: { list: async () => ({ rows: rows.reverse() as unknown as ApprovalRow[], now: 1 }) },
    },
    conversations: {
      read: async () => ({
        messages,
        last: { streamRequestId: 'last', wasDetached: false },
        ...(running !== undefined && { running }),
      }),
    },
    runs: { read: async () => ({ run: { status: 'running', input: [{ role: 'user', content: 'Pay.' }] } }) },
  };
  const history = await readHistory(deps as unknown as Parameters<typeof readHistory>[0], CONVERSATION);
  return history.messages;
}

async function callsWith(...given: Parameters<typeof shownWith>) {
  const shown = await shownWith(...given);
  return shown.flatMap(({ parts }) => parts).filter((part) => part.type === 'dynamic-tool');
}

it('a call of an ended turn is not shown with the pending approval of a later call with its id', async () => {
  const pending = { id: 'a2', turn: 'sr_now', status: 'pending' };
  const shown = await callsWith(turn('sr_a', 7), [pending], 'sr_now');
  expect(shown).toMatchObject([{ state: 'output-available', output: 'paid 7' }]);
  expect(shown[0]).not.toHaveProperty('approval');
  // The turn has ended, and its approval is read before its withdrawal is.
  expect((await callsWith(turn('sr_now', 7), [pending]))[0]).not.toHaveProperty('approval');
});

it('an approval is shown with its call, also where the server names the tool otherwise and ids are used again', async () => {
  const messages = [...turn(undefined, 1), ...turn('sr_a', 2), ...turn('sr_b', 3, 4, 5)];
  const shown = await callsWith(messages, [
    { id: 'a2', turn: 'sr_a' },
    { id: 'a4', turn: 'sr_b', call: `${CALL}.1.0`, status: 'denied' },
    { id: 'a5', turn: 'sr_b', call: `${CALL}.2.0` },
  ]);
  expect(
    shown.map((part) => [part.toolCallId, part.state, part.approval?.id, 'output' in part && part.output]),
  ).toEqual([
    [CALL, 'output-available', undefined, 'paid 1'],
    [CALL, 'output-available', 'a2', 'paid 2'],
    [CALL, 'output-available', undefined, 'paid 3'],
    [`${CALL}.1.0`, 'output-denied', 'a4', false],
    [`${CALL}.2.0`, 'output-available', 'a5', 'paid 5'],
  ]);
});

it('a message keeps its id while its turn runs, after it, and when older messages leave the history', async () => {
  const [first, second] = [turn('sr_a', 1), turn('sr_b', 2)];
  const ids = async (...given: Parameters<typeof shownWith>) =>
    (await shownWith(...given)).map(({ id }) => id);
  expect(await ids([...first, ...second], [])).toEqual(['msg_a_0', 'msg_a', 'msg_b_0', 'msg_b']);
  expect(await ids([...first.slice(2), ...second], [])).toEqual(['msg_a', 'msg_b_0', 'msg_b']);
  expect(await ids(first, [], 'sr_b')).toEqual(['msg_a_0', 'msg_a', 'msg_b_0']);
  expect(await ids([...turn(undefined, 0), ...first], [])).toEqual(['msg_0', 'msg_1', 'msg_a_0', 'msg_a']);
});
