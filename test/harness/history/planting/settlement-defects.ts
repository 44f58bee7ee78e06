import type { HistoryEvent } from '../events.ts';
import { alice, ask, blue, bob, command, end, push, read, red, respond } from './legal-history.ts';
import { add, all, change, type Defects, remove } from './plant.ts';

const final = (elicitationId: string) => ({ type: 'final', elicitationId });
const wait = (elicitationId: string) => ({ type: 'wait', elicitationId });
const reply = (responseId: string, httpStatus = 200) => ({ type: 'respond', responseId, httpStatus });
const event = (eventId: string) => ({ type: 'stream-event', eventId });
const form = { mode: 'form' } as const;
const lostAsk = { elicitationId: undefined, createdAt: undefined, expiresAt: undefined, httpStatus: 0 };

/** Defects in what is asked, answered and recorded. */
export const SETTLEMENT_DEFECTS: Defects = {
  'I1: a final is missing': remove(final('el_form')),
  'I1 (I4): an elicitation is still open at the end': change(final('el_bob'), {
    status: 'pending',
    action: undefined,
    settledAt: undefined,
  }),
  'I1: an ask is acknowledged without an id': add({
    ...ask('x', 3_000, 's1', form),
    elicitationId: undefined,
  } as HistoryEvent),
  'I1 (I4): an answered elicitation is open at the end, and its reader saw no end': all(
    change(final('el_page'), { status: 'opened', action: undefined, settledAt: undefined }),
    remove(event('s2a-4')),
  ),
  'I2 (I5): a waiter sees another end': change(wait('el_late'), { outcome: 'withdrawn' }),
  'I2 (I5): a reader sees another answer': change({ type: 'read', at: 460 }, { content: blue }),
  'I2: an answer to a declined elicitation gets "expired"': add(
    respond('el_bob', 'r9', 8_000, { by: bob, httpStatus: 410 }),
  ),
  'I2 (I5): the stream shows another end': change(event('s2a-2'), { status: 'cancelled' }),
  'I3 (I4): two answers are acknowledged': add(respond('el_form', 'r9', 500, { content: blue })),
  'I3 (I2, I4, I5): two different answers with one status are shown as recorded': add(
    respond('el_form', 'r9', 500, { content: red, recorded: { status: 'accepted', content: blue } }),
  ),
  'I3 (I4): an answer and a withdrawal are acknowledged': add(command('withdraw', 'el_form', 500)),
  'I4 (I2, I3, I5): an acknowledgement shows another answer': change(reply('r1'), {
    recorded: { status: 'accepted', content: blue },
  }),
  'I4 (I2, I5): an acknowledged answer is another at the end': change(final('el_form'), { content: blue }),
  'I4 (I16): an acknowledged answer has no content at the end': change(final('el_form'), {
    content: undefined,
  }),
  'I4 (I2): a waiter gets an answer that another sent one replaced': all(
    change(wait('el_form'), { content: blue }),
    add(respond('el_form', 'r9', 340, { content: blue, httpStatus: 0 })),
  ),
  'I4 (I2, I5): an answer is another at the end, though the ask was lost': add(
    { ...ask('x', 3_000, 's1', form), ...lostAsk } as HistoryEvent,
    respond('el_x', 'r9', 3_100, { content: red, recorded: { status: 'accepted', content: red } }),
    end('el_x', 'accepted', 3_095, { content: blue }),
  ),
  'I4: a waiter gets the status without the answer': change(wait('el_form'), { content: undefined }),
  'I4: an answer to a form is acknowledged as merely opened': change(reply('r5'), {
    recorded: { status: 'opened' },
  }),
  'I4: a form is completed by the server': add(command('complete', 'el_form', 500)),
  'I4 (I2, I3, I5, I9): consent is acknowledged with a decline': change(reply('r3'), {
    recorded: { status: 'declined' },
  }),
  'I5: an answer that no client sent': remove({ type: 'respond', elicitationId: 'el_page' }),
  'I5: a refused answer is recorded': change(reply('r5'), { httpStatus: 422, recorded: undefined }),
  'I5: an answer is seen before it was sent': add(read('el_form', 200, 'accepted', { content: red })),
  'I5: a withdrawal that no client sent': remove({ type: 'withdraw' }),
  'I5: consent alone finishes a page of the server': remove({ type: 'complete' }),
  "I10: another user's answer is taken": add(respond('el_form', 'r9', 500, { by: bob, content: red })),
  'I10: a namesake in another tenant is taken for the owner': add(
    respond('el_form', 'r9', 500, { by: { ...alice, tenant: 'other' }, content: red }),
  ),
  "I10 (I5): another user's lost answer is recorded": change(reply('r5'), {
    by: alice,
    httpStatus: 0,
    recorded: undefined,
  }),
  'I5: consent alone finishes a page whose ask was lost': add(
    { ...ask('x', 3_000, 's1', form), ...lostAsk } as HistoryEvent,
    respond('el_x', 'r9', 3_100, { recorded: { status: 'opened', action: 'accept' } }),
    respond('el_x', 'r8', 3_300, { action: 'decline', httpStatus: 409 }),
    end('el_x', 'accepted', 3_200),
  ),
  'I10: the owner changes': change(final('el_form'), { owner: bob }),
  'I10 (I5): a user completes': change({ type: 'complete' }, { by: alice }),
  'I13 (I16): the winner sends again and gets "conflict"': add(
    respond('el_form', 'r1', 500, { content: red, httpStatus: 409 }),
  ),
  'I13 (I16): an answer that was taken becomes "not found"': add(
    respond('el_bob', 'r5', 2_400, { by: bob, action: 'decline', httpStatus: 404 }),
  ),
  'I13 (I3, I4): a conflict turns into success': add(respond('el_form', 'r2', 500, { action: 'decline' })),
  'I13: consent is taken after it was refused': add(respond('el_url', 'r3', 550, { httpStatus: 409 })),
  'I13: consent is taken, refused, and taken again': add(
    respond('el_url', 'r3', 620, { httpStatus: 409 }),
    respond('el_url', 'r3', 680, { recorded: { status: 'opened' } }),
    respond('el_url', 'r3', 800, { httpStatus: 409 }),
  ),
  'I13: consent is taken and invalid': add(respond('el_url', 'r3', 650, { httpStatus: 400 })),
  'I13: consent is taken, seen to be finished, and refused': add(
    respond('el_url', 'r3', 800, { recorded: { status: 'accepted' } }),
    respond('el_url', 'r3', 900, { httpStatus: 409 }),
  ),
  'I13: a conflict turns into "too late"': add(
    respond('el_late', 'r4', 1_950, { content: red, httpStatus: 409 }),
  ),
  'I13 (I2, I5): one response id is shown two ends': add(
    respond('el_form', 'r2', 500, { action: 'decline', httpStatus: 409, recorded: { status: 'cancelled' } }),
  ),
  'I13: one Idempotency-Key makes two elicitations': add(
    { ...ask('el_twin', 3_000, 's1', form, 1_000), idempotencyKey: 'key-el_form' } as HistoryEvent,
    push('c2', 10, 'el_twin', 'expired', 4_100),
    end('el_twin', 'expired', 4_000),
  ),
  'I16: a conflict with an answer that is equal to the recorded one': add(
    respond('el_bob', 'r9', 2_400, { by: bob, action: 'decline', httpStatus: 409 }),
  ),
  'I16: an expired elicitation with an answer on it': change(final('el_late'), {
    action: 'accept',
    content: red,
  }),
  'I16: an expired form with the action of an answer': change(final('el_late'), { action: 'accept' }),
  'I16 (I5): a page with an answer on it': change(final('el_page'), { content: red }),
  'I16: a decline with the action of another': change(final('el_bob'), { action: 'cancel' }),
  'I16: an open elicitation with an answer on it': change({ type: 'read', at: 910 }, { action: 'accept' }),
  'I16 (I8): an end without a time': change(final('el_bob'), { settledAt: undefined }),
  'I16: a lost answer is recorded without its content': add(
    ask('el_half', 3_000, 's1', form),
    push('c2', 10, 'el_half', 'accepted', 3_150),
    respond('el_half', 'r9', 3_100, { content: red, httpStatus: 0 }),
    end('el_half', 'accepted', 3_095),
  ),
  'I16: the owner gets "not found"': add(respond('el_form', 'r9', 500, { content: blue, httpStatus: 404 })),
  'I16: a lost ask never ends': add(
    { ...ask('x', 3_000, 's1', form), ...lostAsk } as HistoryEvent,
    end('el_x', 'pending', 0, { settledAt: undefined }),
  ),
  'I16: a lost ask that is retried makes two elicitations': add(
    { ...ask('el_form', 108, 's1', form), ...lostAsk } as HistoryEvent,
    push('c2', 10, 'el_twin', 'expired', 6_000),
  ),
};
