import type { FormSchema } from '@parley/core/domain/forms/schema';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import type { Row } from '@parley/shared/domain/elicitations/row';
import {
  approvalMessage,
  denyModal,
  editModal,
} from '../../../../services/api/src/surfaces/slack/mapping/approval.ts';
import { formModal, overModal } from '../../../../services/api/src/surfaces/slack/mapping/modal.ts';
import { ACTION } from '../../../../services/api/src/surfaces/slack/mapping/names.ts';
import {
  connectMessage,
  escalationMessage,
  openAgainMessage,
  reminderMessage,
} from '../../../../services/api/src/surfaces/slack/mapping/notice.ts';
import {
  addressMessage,
  overText,
  questionMessage,
  refusedFormMessage,
  type ShownTo,
  type SlackMessage,
} from '../../../../services/api/src/surfaces/slack/mapping/question.ts';
import { createReply, replacedMessage } from '../../../../services/api/src/surfaces/slack/mapping/reply.ts';
import { stepCallsMessage, stepMessage } from '../../../../services/api/src/surfaces/slack/mapping/step.ts';
import { ASKED_AT, approvalRow, questionRow } from '../rows.ts';
import type { Json } from '../state.ts';

/** A message or a modal that Parley sends to Slack, and what it shows. */
export interface SlackPicture {
  readonly title: string;
  readonly message?: Json;
  readonly view?: Json;
  /** What Slack shows below inputs, by their blocks. */
  readonly errors?: Readonly<Record<string, string>>;
  readonly isEphemeral?: boolean;
}

const DIRECT: ShownTo = {
  user: 'U1',
  isPrivate: true,
  answerPage: 'https://parley.example.com/auth/answer/one',
};
const CHANNEL: ShownTo = { ...DIRECT, isPrivate: false };

const ORDER: FormSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Name', description: 'As on the door.', minLength: 2, maxLength: 80 },
    note: { type: 'string', title: 'Note for the driver' },
    mail: { type: 'string', title: 'E-mail', format: 'email' },
    site: { type: 'string', title: 'Web page', format: 'uri', default: 'https://example.com' },
    day: { type: 'string', title: 'Delivery day', format: 'date' },
    call: { type: 'string', title: 'Call me at', format: 'date-time', default: '2026-01-16T08:00:00Z' },
    count: { type: 'integer', title: 'How many', minimum: 1, maximum: 9, default: 2 },
    price: { type: 'number', title: 'Highest price' },
    size: {
      type: 'string',
      title: 'Size',
      enum: ['s', 'm', 'l'],
      enumNames: ['Small', 'Medium', 'Large'],
      default: 'm',
    },
    country: {
      type: 'string',
      title: 'Country',
      enum: Array.from({ length: 12 }, (_, at) => `Country ${at + 1}`),
    },
    extras: {
      type: 'array',
      title: 'Extras',
      items: { type: 'string', enum: ['Gift wrap', 'Express', 'Insurance'] },
      default: ['Express'],
    },
    shops: {
      type: 'array',
      title: 'Shops',
      items: { type: 'string', enum: Array.from({ length: 11 }, (_, at) => `Shop ${at + 1}`) },
    },
    sure: { type: 'boolean', title: 'Order now', default: true },
  },
  required: ['name', 'count', 'size'],
};
const SIZE: FormSchema = {
  type: 'object',
  properties: { size: { type: 'string', enum: ['s', 'l'], enumNames: ['Small', 'Large'] } },
};

const question = (definition: Partial<Row['definition']>, more?: Partial<Row>): Row =>
  questionRow({ requestedSchema: SIZE, ...definition }, more);

const TRANSFER: Partial<ApprovalRow['definition']> = {
  step: 'sr_one 0',
  agent: 'Office assistant',
  agentId: 'office',
  tool: {
    server: 'bank',
    name: 'transfer',
    title: 'Transfer money',
    hints: { destructive: true, openWorld: true },
  },
  arguments: {
    amount: 120.5,
    to: 'ACME Ltd',
    urgent: false,
    lines: [{ item: 'Lamp', count: 2 }],
    note: 'Invoice 42\nThank you!',
    accessCode: '••••••',
    token: '••••••',
  },
  masked: ['/accessCode', '/token'],
  inputSchema: {
    type: 'object',
    properties: {
      amount: { type: 'number', title: 'Amount', description: 'In euros.' },
      to: { type: 'string', title: 'Receiver' },
      urgent: { type: 'boolean', title: 'Today' },
      lines: { type: 'array', title: 'Lines' },
      account: { type: 'string', enum: ['main', 'savings'], title: 'From' },
    },
    required: ['amount', 'to'],
  },
};
const approval = (
  more: Partial<ApprovalRow> = {},
  definition: Partial<ApprovalRow['definition']> = {},
): ApprovalRow => approvalRow({ ...TRANSFER, ...definition }, more);

/** Two calls of one step. */
const STEP = [
  approval(),
  approval(
    { id: 'ap_00BAAAAAAAAAAAAAAAAAAAAA' },
    { tool: { server: 'mail', name: 'send_message' }, arguments: { to: 'books@acme.example' }, masked: [] },
  ),
];

const settled = (status: Row['status'], surface?: string, reason?: string): Partial<Row> => ({
  status,
  settledAt: ASKED_AT + 60_000,
  settlement: { ...(surface && { surface }), ...(reason && { reason }) } as NonNullable<Row['settlement']>,
});
const decided = (
  status: ApprovalRow['status'],
  settlement: NonNullable<ApprovalRow['settlement']> = {},
): ApprovalRow => approval({ status, settledAt: ASKED_AT + 60_000, settlement });

const shown = (title: string, message: SlackMessage, isEphemeral = false): SlackPicture => ({
  title,
  message: { ...message },
  isEphemeral,
});
const asked = (title: string, row: Row, place = DIRECT) => shown(title, questionMessage(row, place));
const called = (title: string, row: ApprovalRow, place = DIRECT) => shown(title, approvalMessage(row, place));

const PAY = {
  mode: 'url',
  message: 'Pay the invoice to continue.',
  title: 'Payment',
  url: 'https://pay.example.com/one',
} as const;
const FORM = { title: 'Your order', message: 'What do you want to order?', requestedSchema: ORDER } as const;

/** A text with everything that an agent may write, and that a message shows otherwise than it is written. */
const MARKDOWN = `## Two lamps for *less than* €100

I compared **three** shops, see [the list](https://example.com/lamps). ~~Four were open.~~ Nothing pings: @here.

| Lamp | Price | Left |
|:--|--:|:-:|
| A & B | 49.90 | 3 |
| Desk | 89.00 | 12 |

1. Order with \`order --lamp "A & B" --count 2**1\`:
   \`\`\`sh
   curl -d '{"count": 2}' https://example.com/order && echo "*done*"
   \`\`\`
2. Then
   - pay, and
     - keep the receipt
   - tell me
     - [x] the number
     - [ ] the day

> Lamps are sent on Fridays.
>
> - not in **August**

---

שלום, **המנורה** בדרך. 💡`;

/** Texts of an open reply, and of one that was stopped. */
function reply(isStopped: boolean, text = 'I have found **two** lamps: `A & B` and <C>.'): SlackMessage {
  const taken = createReply();
  const place = { id: '', isKnown: false, isWaiting: false };
  taken.take({ ...place, type: 'turn', event: { type: 'text-delta', block: 'b', text } });
  if (isStopped) taken.take({ ...place, type: 'turn', event: { type: 'turn-finished', reason: 'stopped' } });
  return taken.messages('sr_one').at(-1) as SlackMessage;
}

/** Everything that Parley shows in Slack, by what it is about. */
export const SHEETS: Readonly<Record<string, readonly SlackPicture[]>> = {
  replies: [
    shown('Markdown of an agent', reply(false, MARKDOWN)),
    shown('The agent is working', createReply().messages('sr_one')[0] as SlackMessage),
    shown('A reply that was stopped', reply(true)),
    shown('A part of a reply that was written again', replacedMessage()),
  ],
  questions: [
    shown('Nobody is linked yet', connectMessage('https://parley.example.com/auth/link/one'), true),
    asked('One choice', question({ description: 'The large one is out of stock until Friday.' })),
    asked('Any other form', question(FORM)),
    asked('A form that is answered on its page', question({ ...FORM, sensitive: true })),
    asked('An address, in a direct message', question(PAY)),
    asked('An address, in a channel', question(PAY), CHANNEL),
    shown('The address, for the person asked', addressMessage(question(PAY)), true),
    asked('Opened', question({ ...PAY, completion: 'server' }, { status: 'opened' })),
    asked('Answered', question({}, settled('accepted', 'slack'))),
    asked('Answered elsewhere', question({}, settled('accepted', 'chat'))),
    asked('An address that was used', question(PAY, settled('accepted', 'connect'))),
    asked('Declined', question({}, settled('declined', 'slack'))),
    asked('Dismissed', question({}, settled('cancelled', 'mcp'))),
    asked('Expired', question({}, settled('expired'))),
    asked('Stopped', question({}, settled('withdrawn', undefined, 'run_stopped'))),
    asked('Withdrawn', question({}, settled('withdrawn', undefined, 'superseded'))),
  ],
  forms: [
    { title: 'Every kind of field', view: { ...formModal(question(FORM)) } },
    {
      title: 'Faults at their fields',
      view: {
        ...formModal(
          question({
            ...FORM,
            requestedSchema: {
              ...ORDER,
              properties: {
                name: { type: 'string', title: 'Name' },
                count: { type: 'integer', title: 'How many' },
              },
            },
          }),
        ),
      },
      errors: { field_0: 'must have at least 2 characters', field_1: 'must be at most 9' },
    },
    {
      title: 'The question is over',
      view: { ...overModal('Question', overText(question({}, settled('accepted', 'chat')), DIRECT)) },
    },
    shown(
      'A modal that did not open in time',
      openAgainMessage(ACTION.open, 'el_00AAAAAAAAAAAAAAAAAAAAAA'),
      true,
    ),
    shown('A modal that Slack refused', refusedFormMessage(question({}), DIRECT.answerPage), true),
  ],
  approvals: [
    called('A call, in a direct message', approval()),
    called('A call, in a channel', approval(), CHANNEL),
    { title: 'Edit', view: { ...editModal(approval()) }, errors: { field_3: 'This is not JSON.' } },
    { title: 'Deny', view: { ...denyModal([approval()]) } },
    called('Approved', decided('approved', { surface: 'slack' })),
    called('Approved for the conversation', decided('approved', { surface: 'slack', remember: true })),
    called(
      'Edited',
      decided('edited', { surface: 'slack', arguments: { amount: 90, to: 'ACME Ltd', token: '••••••' } }),
    ),
    called(
      'Edited, in a channel',
      decided('edited', { surface: 'slack', arguments: { amount: 90 } }),
      CHANNEL,
    ),
    called('Denied', decided('denied', { surface: 'slack', reason: 'Wait until the lamps are here.' })),
    called('Decided elsewhere', decided('approved', { surface: 'chat' }), CHANNEL),
    called('Expired', decided('expired'), CHANNEL),
    called('Stopped', decided('withdrawn', { reason: 'run_stopped' }), CHANNEL),
    called('Too long for a message', approval({}, { arguments: { text: 'x'.repeat(9_000) } })),
  ],
  steps: [
    shown('All calls of a step, in a direct message', stepMessage(STEP, DIRECT)),
    shown('All calls of a step, in a channel', stepMessage(STEP, CHANNEL)),
    shown('All calls of a step, for the person asked', stepCallsMessage(STEP, DIRECT.user), true),
    { title: 'Deny all calls of a step', view: { ...denyModal(STEP) } },
    shown('One call of a step is open', stepMessage(STEP.slice(1), DIRECT)),
    shown('All calls of a step are over', stepMessage([], DIRECT)),
  ],
  notices: [
    asked('A question from elsewhere', question({ title: 'Lamps' })),
    shown('A reminder, in its thread', reminderMessage(question({}), DIRECT)),
    shown('An escalation', escalationMessage(question({ title: 'Lamps' }), DIRECT)),
    called('An approval from elsewhere', approval({}, { arguments: { to: 'ACME Ltd' }, masked: [] })),
    shown('A reminder of an approval', reminderMessage(approval(), DIRECT)),
    shown('An escalation of an approval', escalationMessage(approval(), DIRECT)),
    called('An approval from elsewhere, decided there', decided('approved', { surface: 'chat' })),
  ],
};
