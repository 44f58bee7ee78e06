import type { HistoryEvent } from './events.ts';
import { alice, answered, asked, blue, bob, ended, looked, pushed, red } from './legal-run.ts';
import { adding, changed, lacking, type PlantedRuns } from './planting.ts';

const final = (elicitationId: string) => ({ type: 'final', elicitationId });
const wait = (elicitationId: string) => ({ type: 'wait', elicitationId });
const reply = (responseId: string, httpStatus = 200) => ({ type: 'respond', responseId, httpStatus });
const event = (eventId: string) => ({ type: 'stream-event', eventId });
const form = { mode: 'form' } as const;
const lostAsk = { elicitationId: undefined, createdAt: undefined, expiresAt: undefined, httpStatus: 0 };

/** Wrongs in what is asked, answered and recorded. */
export const defectsOfOutcome: PlantedRuns = {
  'I1: a final is missing': lacking(final('el_form')),
  'I1 (I4): a question is still open at the end': changed(final('el_bob'), {
    status: 'pending',
    action: undefined,
    settledAt: undefined,
  }),
  'I1: an ask is acknowledged without an id': adding({
    ...asked('x', 3_000, 's1', form),
    elicitationId: undefined,
  } as HistoryEvent),
  'I1 (I4): an answered question is open at the end, and its reader heard nothing': changed(
    final('el_page'),
    { status: 'opened', action: undefined, settledAt: undefined },
  ).filter((each) => !('eventId' in each && each.eventId === 's2a-4')),
  'I2 (I5): a waiter sees another end': changed(wait('el_late'), { outcome: 'withdrawn' }),
  'I2 (I5): a reader sees another answer': changed({ type: 'read', at: 460 }, { content: blue }),
  'I2: an answer to a declined question is told "expired"': adding(
    answered('el_bob', 'r9', 8_000, { by: bob, httpStatus: 410 }),
  ),
  'I2 (I5): the stream tells another end': changed(event('s2a-2'), { status: 'cancelled' }),
  'I3 (I4): two answers are acknowledged': adding(answered('el_form', 'r9', 500, { content: blue })),
  'I3 (I2, I4, I5): two different answers with one status are shown as recorded': adding(
    answered('el_form', 'r9', 500, { content: red, recorded: { status: 'accepted', content: blue } }),
  ),
  'I3 (I4): an answer and a withdrawal are acknowledged': adding({
    type: 'withdraw',
    elicitationId: 'el_form',
    httpStatus: 200,
    startedAt: 490,
    at: 500,
  }),
  'I4 (I2, I3, I5): an acknowledgement shows another answer': changed(reply('r1'), {
    recorded: { status: 'accepted', content: blue },
  }),
  'I4 (I2, I5): an acknowledged answer is another at the end': changed(final('el_form'), { content: blue }),
  'I4 (I16): an acknowledged answer has no content at the end': changed(final('el_form'), {
    content: undefined,
  }),
  'I4 (I2): a waiter gets an answer that another sent one replaced': [
    ...changed(wait('el_form'), { content: blue }),
    answered('el_form', 'r9', 340, { content: blue, httpStatus: 0 }),
  ],
  'I4 (I2, I5): an answer is another at the end, though the ask was lost': adding(
    { ...asked('x', 3_000, 's1', form), ...lostAsk } as HistoryEvent,
    answered('el_x', 'r9', 3_100, { content: red, recorded: { status: 'accepted', content: red } }),
    ended('el_x', 'accepted', 3_095, { content: blue }),
  ),
  'I4: a waiter gets the status without the answer': changed(wait('el_form'), { content: undefined }),
  'I4: an answer to a form is acknowledged as merely opened': changed(reply('r5'), {
    recorded: { status: 'opened' },
  }),
  'I4: a form is completed by the server': adding({
    type: 'complete',
    elicitationId: 'el_form',
    httpStatus: 200,
    startedAt: 490,
    at: 500,
  }),
  'I4 (I2, I3, I5, I9): consent is acknowledged with a decline': changed(reply('r3'), {
    recorded: { status: 'declined' },
  }),
  'I5: an answer that nobody sent': lacking({ type: 'respond', elicitationId: 'el_page' }),
  'I5: a refused answer is recorded': changed(reply('r5'), { httpStatus: 422, recorded: undefined }),
  'I5: an answer is seen before it was sent': adding(looked('el_form', 200, 'accepted', { content: red })),
  'I5: a withdrawal that nobody asked for': lacking({ type: 'withdraw' }),
  'I5: consent alone finishes a page of the server': lacking({ type: 'complete' }),
  "I10: a stranger's answer is taken": adding(answered('el_form', 'r9', 500, { by: bob, content: red })),
  'I10: a namesake in another tenant is taken for the owner': adding(
    answered('el_form', 'r9', 500, { by: { ...alice, tenant: 'other' }, content: red }),
  ),
  "I10 (I5): a stranger's lost answer is recorded": changed(reply('r5'), {
    by: alice,
    httpStatus: 0,
    recorded: undefined,
  }),
  'I5: consent alone finishes a page whose ask was lost': adding(
    { ...asked('x', 3_000, 's1', form), ...lostAsk } as HistoryEvent,
    answered('el_x', 'r9', 3_100, { recorded: { status: 'opened', action: 'accept' } }),
    answered('el_x', 'r8', 3_300, { action: 'decline', httpStatus: 409 }),
    ended('el_x', 'accepted', 3_200),
  ),
  'I10: the owner changes': changed(final('el_form'), { owner: bob }),
  'I10 (I5): a user completes': changed({ type: 'complete' }, { by: alice }),
  'I13 (I16): the winner sends again and is told "conflict"': adding(
    answered('el_form', 'r1', 500, { content: red, httpStatus: 409 }),
  ),
  'I13 (I16): an answer that was taken becomes "not found"': adding(
    answered('el_bob', 'r5', 2_400, { by: bob, action: 'decline', httpStatus: 404 }),
  ),
  'I13 (I3, I4): a conflict turns into success': adding(
    answered('el_form', 'r2', 500, { action: 'decline' }),
  ),
  'I13: consent is taken after it was refused': adding(answered('el_url', 'r3', 550, { httpStatus: 409 })),
  'I13: consent is taken, refused, and taken again': adding(
    answered('el_url', 'r3', 620, { httpStatus: 409 }),
    answered('el_url', 'r3', 680, { recorded: { status: 'opened' } }),
    answered('el_url', 'r3', 800, { httpStatus: 409 }),
  ),
  'I13: consent is taken and invalid': adding(answered('el_url', 'r3', 650, { httpStatus: 400 })),
  'I13: consent is taken, seen to be finished, and refused': adding(
    answered('el_url', 'r3', 800, { recorded: { status: 'accepted' } }),
    answered('el_url', 'r3', 900, { httpStatus: 409 }),
  ),
  'I13: a conflict turns into "too late"': adding(
    answered('el_late', 'r4', 1_950, { content: red, httpStatus: 409 }),
  ),
  'I13 (I2, I5): one response id is shown two ends': adding(
    answered('el_form', 'r2', 500, { action: 'decline', httpStatus: 409, recorded: { status: 'cancelled' } }),
  ),
  'I13: one Idempotency-Key makes two elicitations': adding(
    { ...asked('el_twin', 3_000, 's1', form, 1_000), idempotencyKey: 'key-el_form' } as HistoryEvent,
    pushed('c2', 10, 'el_twin', 'expired', 4_100),
    ended('el_twin', 'expired', 4_000),
  ),
  'I16: a plain no, yet recorded beside an equal answer': adding(
    answered('el_bob', 'r9', 2_400, { by: bob, action: 'decline', httpStatus: 409 }),
  ),
  'I16: an expired question with an answer on it': changed(final('el_late'), {
    action: 'accept',
    content: red,
  }),
  'I16: an expired form with the action of an answer': changed(final('el_late'), { action: 'accept' }),
  'I16 (I5): a page with an answer on it': changed(final('el_page'), { content: red }),
  'I16: a decline with the action of another': changed(final('el_bob'), { action: 'cancel' }),
  'I16: an open question with an answer on it': changed({ type: 'read', at: 910 }, { action: 'accept' }),
  'I16 (I8): an end without a time': changed(final('el_bob'), { settledAt: undefined }),
  'I16: a lost answer leaves the status without the content': adding(
    asked('el_half', 3_000, 's1', form),
    pushed('c2', 10, 'el_half', 'accepted', 3_150),
    answered('el_half', 'r9', 3_100, { content: red, httpStatus: 0 }),
    ended('el_half', 'accepted', 3_095),
  ),
  'I16: the owner is told "not found"': adding(
    answered('el_form', 'r9', 500, { content: blue, httpStatus: 404 }),
  ),
  'I16: a lost ask never ends': adding(
    { ...asked('x', 3_000, 's1', form), ...lostAsk } as HistoryEvent,
    ended('el_x', 'pending', 0, { settledAt: undefined }),
  ),
  'I16: a lost ask that is retried makes two elicitations': adding(
    { ...asked('el_form', 108, 's1', form), ...lostAsk } as HistoryEvent,
    pushed('c2', 10, 'el_twin', 'expired', 6_000),
  ),
};
