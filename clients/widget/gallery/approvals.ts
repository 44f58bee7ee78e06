/**
 * The approvals that the gallery shows, in every state. Questions are in `states.ts`, and the page itself is in `gallery.ts`.
 */

import { type Approval, type ApprovalCard, isPending } from '../src/approvals.ts';
import type { ApprovalServer, Connection } from '../src/server/type.ts';
import { Refusal } from '../src/server.ts';

/** One card of the gallery, with the calls of one step. */
export interface GalleryApproval {
  readonly label: string;
  readonly calls: readonly Partial<Approval>[];
  readonly play?: 'takes' | 'hangs' | 'refuses' | 'offline' | 'elsewhere' | 'gone';
  /** The buttons that the gallery presses once the card is shown. */
  readonly press?: readonly ('primary' | 'edit' | 'deny')[];
}

const MINUTES = 60_000;
const REPLY_MS = 900;
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

const PAY: Partial<Approval> = {
  agent: 'Travel desk',
  tool: {
    server: 'bank',
    name: 'bank_pay',
    title: 'Pay an invoice',
    hints: { readOnly: false, destructive: true, openWorld: true },
  },
  arguments: { to: 'Hotel Alpenblick', amount: 482.5, currency: 'CHF', urgent: false, pin: '••••••' },
  masked: ['/pin'],
  inputSchema: {
    type: 'object',
    properties: {
      to: { type: 'string', description: 'Who gets the money.' },
      amount: { type: 'number', minimum: 0.01 },
      currency: { type: 'string', enum: ['CHF', 'EUR'] },
      urgent: { type: 'boolean' },
      pin: { type: 'string', format: 'password' },
    },
    required: ['to', 'amount', 'currency', 'pin'],
  },
  remember: 'conversation',
};
const cancel = (booking: string): Partial<Approval> => ({
  agent: 'Travel desk',
  tool: {
    server: 'bookings',
    name: 'bookings_cancel',
    title: `Cancel a booking`,
    hints: { destructive: true },
  },
  arguments: { booking, refund: true },
  inputSchema: {
    type: 'object',
    properties: { booking: { type: 'string' }, refund: { type: 'boolean' } },
    required: ['booking'],
  },
});
const LONG: Partial<Approval> = {
  agent: 'Newsroom',
  tool: { server: 'mail', name: 'mail_send' },
  arguments: {
    subject: 'Your tickets <b>and</b> \u202Emore',
    body: `Dear Ada,\n\n${'we have booked everything that you asked for. '.repeat(30)}\n\nSee you soon`,
    recipients: Array.from({ length: 45 }, (_, at) => `person-${at}@example.com`),
    options: {
      retry: {
        times: 3,
        pauseSeconds: 60,
        onFailure: { notify: ['ops@example.com'], subject: 'A letter could not be sent' },
      },
      headers: { 'x-campaign': 'spring', 'x-token': '••••••' },
      footer: '',
    },
    dryRun: false,
  },
  masked: ['/options/headers/x-token'],
  inputSchema: { type: 'object', properties: {} },
  remember: { days: 7 },
};
const READ: Partial<Approval> = {
  agent: 'Travel desk',
  tool: {
    server: 'calendar',
    name: 'calendar_list',
    title: 'List appointments',
    hints: { readOnly: true, openWorld: false },
  },
  arguments: {},
};
const ended = (status: Approval['status'], more: Partial<Approval> = {}): Partial<Approval> => ({
  ...PAY,
  status,
  ...more,
});

/** Every state of an approval, in the order in which a person would see them. */
export const APPROVALS: readonly { readonly name: string; readonly cards: readonly GalleryApproval[] }[] = [
  {
    name: 'Waiting for an approval',
    cards: [
      { label: 'One call', calls: [{ ...PAY, expiresAt: inMs(9.5 * MINUTES) }] },
      { label: 'Long and nested arguments, no hints', calls: [LONG] },
      { label: 'Editing', calls: [PAY], press: ['edit'] },
      { label: 'Editing nested arguments', calls: [LONG], press: ['edit'] },
      { label: 'Denying', calls: [cancel('B-1042')], press: ['deny'] },
      { label: 'Several calls of one step', calls: [cancel('B-1042'), cancel('B-1043'), READ] },
      { label: 'Nothing to edit, less than a minute', calls: [{ ...READ, expiresAt: inMs(0.8 * MINUTES) }] },
    ],
  },
  {
    name: 'Decisions on their way',
    cards: [
      { label: 'Sending', calls: [PAY], play: 'hangs', press: ['primary'] },
      { label: 'Refused at an argument', calls: [PAY], play: 'refuses', press: ['edit', 'primary'] },
      { label: 'Not delivered', calls: [PAY], play: 'offline', press: ['primary'] },
    ],
  },
  {
    name: 'Approvals that have ended',
    cards: [
      { label: 'Approved, remembered', calls: [ended('approved', { remembered: true })] },
      {
        label: 'Approved with changes',
        calls: [ended('edited', { editedArguments: { ...PAY.arguments, amount: 400 } })],
      },
      { label: 'Denied', calls: [ended('denied', { reason: 'Too expensive.' })] },
      { label: 'Too late', calls: [ended('expired')] },
      { label: 'Taken back', calls: [ended('withdrawn', { reason: 'run_stopped' })] },
      { label: 'Decided somewhere else', calls: [PAY], play: 'elsewhere' },
      {
        label: 'One of several decided',
        calls: [cancel('B-1042'), { ...cancel('B-1043'), status: 'denied' }],
      },
      { label: 'No longer there', calls: [], play: 'gone' },
    ],
  },
];

/** Creates the card of a gallery entry, with a simulated server. */
export function approvalCardOf(shown: GalleryApproval, id: string): ApprovalCard {
  const card = document.createElement('approval-card');
  card.headingLevel = 4;
  const calls = shown.calls.map(
    (call, at): Approval => ({
      approvalId: `${id}_${at}`,
      tool: { server: 'bank', name: 'bank_pay' },
      arguments: {},
      status: 'pending',
      serverTime: new Date().toISOString(),
      ...call,
    }),
  );
  card.server = simulateApprovals(calls, shown.play ?? 'takes');
  if (calls.length > 0) card.approvals = calls;
  else card.approvalId = `${id}_0`;
  void press(card, shown.press ?? []);
  return card;
}

/** Presses buttons again until they work, because they only work after a second in view. */
async function press(card: ApprovalCard, parts: NonNullable<GalleryApproval['press']>): Promise<void> {
  for (const part of parts) {
    const find = () => card.shadowRoot?.querySelector<HTMLElement>(`[part=${part}]`);
    await card.updateComplete;
    while (find()?.getAttribute('aria-disabled') !== 'false')
      await new Promise((resolve) => setTimeout(resolve, 50));
    find()?.click();
    (card.shadowRoot?.activeElement as HTMLElement | null)?.blur();
  }
}

function simulateApprovals(
  calls: readonly Approval[],
  play: NonNullable<GalleryApproval['play']>,
): ApprovalServer {
  const views = new Map(calls.map((call) => [call.approvalId, call]));
  const listeners = new Map<string, (view: Approval) => void>();
  const settle = (id: string, more: Partial<Approval>): Approval => {
    const view = { ...(views.get(id) as Approval), ...more, serverTime: new Date().toISOString() };
    views.set(id, view);
    listeners.get(id)?.(view);
    return view;
  };
  return {
    now: () => Date.now(),
    noteTime: () => undefined,
    readApproval: (id) => Promise.resolve(views.get(id) as Approval),
    async decide(id, choice) {
      if (play === 'hangs') return new Promise<never>(() => undefined);
      if (play === 'offline') throw new Refusal({ status: 0, code: 'offline' });
      const errors = [{ path: 'arguments.amount', message: 'Too big: expected number to be <=300' }];
      if (play === 'refuses') throw new Refusal({ status: 422, code: 'invalid_answer', errors });
      await new Promise((resolve) => setTimeout(resolve, REPLY_MS));
      if (choice.decision === 'deny')
        return settle(id, { status: 'denied', ...(choice.reason && { reason: choice.reason }) });
      if (choice.decision === 'edit')
        return settle(id, { status: 'edited', editedArguments: choice.arguments });
      return settle(id, { status: 'approved', remembered: choice.remember === true });
    },
    followApproval(id, listener, onConnection?: (state: Connection) => void, onGone?: () => void) {
      listeners.set(id, listener);
      setTimeout(() => {
        onConnection?.('live');
        const view = views.get(id);
        if (play === 'gone') onGone?.();
        else if (play === 'elsewhere' && view && isPending(view)) settle(id, { status: 'approved' });
      });
      return () => void listeners.delete(id);
    },
    followApprovals: () => () => undefined,
    listRemembered: () => Promise.resolve([]),
    revokeRemembered: () => Promise.resolve(),
  };
}
