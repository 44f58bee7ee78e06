import { MASK } from '@parley/shared/domain/approvals/mask';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Message } from '@parley/shared/domain/runs/run';
import { expect, it } from 'vitest';
import { readHistory } from '../../../services/api/src/turns/history.ts';

const CONVERSATION = { tenant: 'acme', userId: 'u1', conversationId: 'c1' };
// A model that numbers its calls anew in each turn.
const CALL = 'call_0';

function turn(toolName: string, input: object): Message[] {
  return [
    { role: 'user', content: 'Go on.' },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: CALL, toolName, input }] },
    { role: 'tool', content: [{ toolCallId: CALL, output: { type: 'json', value: 'done' } }] },
  ];
}

interface Given {
  readonly id: string;
  readonly turn: string;
  readonly name: string;
  readonly args: object;
  readonly status?: string;
  readonly masked?: string[];
}

/** The calls that the page shows, with the given approvals, oldest first. */
async function callsWith(messages: Message[], approvals: Given[], running?: string) {
  const rows = approvals.map(
    ({ id, turn: streamRequestId, name, args, status = 'approved', masked = [] }) => ({
      id,
      definition: {
        ...CONVERSATION,
        streamRequestId,
        toolCallId: CALL,
        step: '0',
        agent: 'Agent',
        tool: { server: 'tools', name },
        arguments: args,
        masked,
      },
      status,
      createdAt: 1,
      expiresAt: 2,
    }),
  );
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
  const { messages: shown } = await readHistory(
    deps as unknown as Parameters<typeof readHistory>[0],
    CONVERSATION,
  );
  return shown.flatMap(({ parts }) => parts).filter(({ type }) => type === 'dynamic-tool');
}

it('a call of an ended turn is not shown with the pending approval of a later call with its id', async () => {
  const payment = { id: 'a2', turn: 'now', name: 'pay', args: { amount: 7 }, status: 'pending' };
  const plain = [{ state: 'output-available', output: 'done', input: { page: 1 } }];
  expect(await callsWith(turn('read', { page: 1 }), [payment], 'now')).toMatchObject(plain);
  const same = await callsWith(turn('pay', { amount: 7 }), [payment], 'now');
  expect(same).toMatchObject([{ state: 'output-available', output: 'done' }]);
  expect(same[0]).not.toHaveProperty('approval');
  // The turn has ended, and its approval is read before its withdrawal is.
  expect((await callsWith(turn('pay', { amount: 7 }), [payment]))[0]).not.toHaveProperty('approval');
});

it('an approval is shown with the newest call that has its id, its tool and its arguments only', async () => {
  const messages = [
    ...turn('pay', { amount: 7 }),
    ...turn('pay', { amount: 8 }),
    ...turn('refund', { amount: 8, key: 'k' }),
    ...turn('pay', { amount: 7 }),
  ];
  const shown = await callsWith(messages, [
    { id: 'a2', turn: 't2', name: 'pay', args: { amount: 8 } },
    { id: 'a3', turn: 't3', name: 'refund', args: { amount: 8, key: MASK }, masked: ['/key'] },
    { id: 'a4', turn: 't4', name: 'pay', args: { amount: 7 }, status: 'denied' },
  ]);
  expect(shown.map((part) => ('approval' in part ? part.approval?.id : undefined))).toEqual([
    undefined,
    'a2',
    'a3',
    'a4',
  ]);
  expect(shown.at(-1)).toMatchObject({ state: 'output-denied' });
});
