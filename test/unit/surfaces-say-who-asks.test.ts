import type { ToolHints } from '@parley/core/domain/approvals/approval';
import { compareWaiting, rankOfRisk } from '@parley/core/domain/approvals/risk';
import { createTaskFold } from '@parley/shared/domain/a2a/task';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import { type Row, toWire } from '@parley/shared/domain/elicitations/row';
import { expect, it } from 'vitest';
import { describeApproval, describeElsewhere } from '../../clients/cli/src/acp/describe.ts';
import { showQuestion } from '../../clients/cli/src/terminal/question.ts';
import { rowsOf } from '../../clients/widget/src/inbox/rows.ts';
import { ENGLISH_APPROVAL } from '../../clients/widget/src/strings/approval.ts';
import { traitsBox } from '../../services/api/src/pages/views/approval/traits.ts';
import { ENGLISH } from '../../services/api/src/pages/views/strings-en.ts';
import { interruptOfApproval, interruptOfQuestion } from '../../services/api/src/surfaces/ag-ui/questions.ts';
import { toldResult } from '../../services/api/src/surfaces/mcp/waiting/told.ts';
import { approvalMessage, denyModal } from '../../services/api/src/surfaces/slack/mapping/approval.ts';
import { escalationMessage } from '../../services/api/src/surfaces/slack/mapping/notice.ts';
import { questionMessage } from '../../services/api/src/surfaces/slack/mapping/question.ts';
import { stepMessage } from '../../services/api/src/surfaces/slack/mapping/step.ts';
import { approvalRow, questionRow } from '../harness/slack/rows.ts';

const NOW = { now: 0, content: false };
const PLACE = { user: 'U1', isPrivate: true };
const TOOL = { server: 'bk-7', serverTitle: 'Bookings', name: 'cancel', title: 'Cancel a booking' };
const CALL = approvalRow({ agent: 'Travel desk', tool: TOOL, risk: 'high' });
const ASKED = questionRow({
  message: 'Which seat?',
  risk: 'high',
  context: { trigger: 'agent', agent: 'Travel desk' },
});
const call = toApprovalWire(CALL, NOW);
const question = toWire(ASKED, NOW);

async function inTerminal(row: Row): Promise<string> {
  const said: string[] = [];
  const screen = {
    isLive: false,
    say: (text: string) => void said.push(text),
    select: async () => 'decline',
    redraw: () => undefined,
  } as never;
  const { signal } = new AbortController();
  const shown = { ...toWire(row, NOW), asker: 'Travel desk' } as never;
  await showQuestion(screen, shown, {
    signal,
    countdown: () => '',
    offersDecline: true,
    open: () => undefined,
  });
  return said.join('\n');
}

function inA2a(item: object): unknown {
  const fold = createTaskFold({ taskId: 't', contextId: 'c', text: 'go' }, { text: 'whole' });
  fold.take({
    type: 'other',
    at: 0,
    event: { type: 'turn-started', conversationId: 'c', messageId: 'm', agent: 'a', sent: {} } as never,
  });
  return fold.take({ at: 0, ...item } as never);
}

it.each<[surface: string, shown: () => unknown]>([
  ['Slack', () => questionMessage(ASKED, PLACE)],
  ['a channel of Slack', () => questionMessage(ASKED, { ...PLACE, isPrivate: false })],
  ['a tool result of MCP', () => toldResult({} as never, { questions: [question], approvals: [] })],
  ['a task of A2A', () => inA2a({ type: 'elicitation', elicitation: question })],
  ['an interrupt of AG-UI', () => interruptOfQuestion(question)],
  ['an editor', () => describeElsewhere(question)],
  ['a terminal', () => inTerminal(ASKED)],
])('%s says who asks a question, and its risk', async (_, shown) => {
  const text = JSON.stringify(await shown());
  expect(text).toContain('Travel desk');
  expect(text).toMatch(/high risk|"risk":"high"/);
});

it.each<[surface: string, shown: () => unknown, server: RegExp]>([
  ['Slack', () => approvalMessage(CALL, PLACE), /\*Bookings\* \(high risk\)/],
  ['a step in Slack', () => stepMessage([CALL, { ...CALL, id: 'ap_2' }], PLACE), /of Bookings \(high risk\)/],
  [
    'a tool result of MCP',
    () => toldResult({} as never, { questions: [], approvals: [call] }),
    /of Bookings \(high/,
  ],
  ['a task of A2A', () => inA2a({ type: 'approval', approval: call }), /of Bookings \(high risk\)/],
  ['an interrupt of AG-UI', () => interruptOfApproval(call).message, /of Bookings \(high risk\)/],
  ['an editor', () => describeApproval(call), /of Bookings \(high risk\)/],
])(
  '%s says who wants to make a call, and its risk, and names the server by its title',
  (_, shown, server) => {
    const text = JSON.stringify(shown());
    expect(text).toContain('Travel desk');
    expect(text).toMatch(server);
    expect(text).not.toMatch(/bk-7(?!")/);
  },
);

it.each<[hints: ToolHints | undefined, said: readonly string[]]>([
  [undefined, ['does not say what it can do']],
  [{ openWorld: false }, ['does not say what it can do']],
  [{ readOnly: true, destructive: true }, ['says that it only reads']],
  [{ readOnly: true, openWorld: true }, ['says that it only reads', 'can reach other services']],
  [{ destructive: true, openWorld: true }, ['can change or delete things', 'can reach other services']],
  [{ destructive: false, openWorld: false }, ['says that it deletes nothing']],
  [{ openWorld: true }, ['can reach other services']],
])('of a tool with the hints %j, the card, the hosted page and Slack say the same', (hints, said) => {
  const sentence = said.join(', and it ');
  const slack = JSON.stringify(
    approvalMessage(approvalRow({ tool: { ...TOOL, ...(hints && { hints }) } }), PLACE),
  );
  expect(slack).toContain(`. It ${sentence}.`);
  expect(ENGLISH_APPROVAL.toolHints(hints).map((text) => text.toLowerCase())).toEqual(said);
  expect(traitsBox(hints, ENGLISH).toString().toLowerCase()).toContain(`>${said.join(' · ')}<`);
});

it('notices name who asks, and what is denied has its risk', () => {
  expect(JSON.stringify(escalationMessage(ASKED, PLACE))).toContain('a question of *Travel desk*');
  expect(JSON.stringify(escalationMessage(CALL, PLACE))).toContain('a call of *Travel desk*');
  expect(JSON.stringify(denyModal([CALL]))).toContain('cancel of Bookings (high risk)');
});

it('inboxes begin with the highest risk; none, and one that is not known, stand below high', () => {
  const risks = ['low', 'odd', 'medium', undefined, 'high', 'constructor'];
  expect(risks.map(rankOfRisk)).toEqual([3, 1, 2, 1, 0, 1]);
  const at = (risk: 'high' | 'low' | undefined, second: number) => ({
    risk,
    expiresAt: new Date(second * 1_000).toISOString(),
  });
  const waiting = [at('low', 1), at(undefined, 2), at('high', 4), at('high', 3)];
  expect([...waiting].sort(compareWaiting)).toEqual([waiting[3], waiting[2], waiting[1], waiting[0]]);
});

it('the rows of the widget: a step has the highest risk of its calls, and of one risk the newest is first', () => {
  const line = (id: string, second: number, more: object) => ({
    id,
    item: { ...more, createdAt: new Date(second * 1_000).toISOString() } as never,
  });
  const questions = [line('el_1', 1, {}), line('el_2', 2, {}), line('el_3', 9, { risk: 'low' })];
  const calls = [
    line('ap_1', 1, { step: 's', risk: 'low' }),
    line('ap_2', 1, { step: 's', risk: 'high' }),
    line('ap_3', 8, { risk: 'medium' }),
  ];
  expect(rowsOf(questions, calls).map(({ id }) => id)).toEqual(['s', 'el_2', 'el_1', 'ap_3', 'el_3']);
});
