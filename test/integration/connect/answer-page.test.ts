import type { AskInput } from '@parley/shared/domain/elicitations/ask-input';
import { describe, expect, test } from 'vitest';
import { createBoundIdentity } from '../../../services/api/src/surfaces/connect/identity/bound.ts';
import { createTestBrowser, headingOf, SAYS } from '../../harness/connect/browser.ts';
import { ADA, type World } from '../../harness/connect/setup.ts';
import { askAboutSeat, ENTRY, issueLink, MESSAGE } from './seat-question.ts';
import { connectSuite, type WorldOptions } from './suite.ts';

const { world } = connectSuite();

const ANSWERED = headingOf({ page: 'answered' });
const MISMATCH = headingOf({ page: 'mismatch', about: 'answer' });
const ANSWER = { 'field-0': '1', 'field-1': '2' };

const SEAT_FORM: AskInput['requestedSchema'] = {
  type: 'object',
  properties: {
    seat: { type: 'string', enum: ['window', 'aisle'] },
    bags: { type: 'integer', minimum: 0, maximum: 3 },
  },
  required: ['seat'],
};

const ask = (here: World, more: Partial<AskInput> = {}) =>
  askAboutSeat(here, { requestedSchema: SEAT_FORM, onAnswerPage: true }, more);

/** A question, and Ada, signed in and before it. */
async function entered(more: Partial<AskInput> = {}, options: WorldOptions = {}) {
  const here = await world(options);
  const asked = await ask(here, more);
  const browser = createTestBrowser(here);
  return { here, asked, browser, question: await browser.enter(asked.path, 'ada') };
}

const read = async (here: World, id: string) => (await here.backend.elicitations.read(id)).row;

describe('the owner', () => {
  test('signs in, sees the form, and answers it, on any pod', async () => {
    const { here, asked, browser, question } = await entered();
    expect(question).toMatchObject({ status: 200, hops: [asked.path] });
    expect(question.html).toContain(MESSAGE);
    expect(question.html).toContain('Signed in as');
    const answered = await browser.submit(question, 'accept', ANSWER);
    expect(answered).toMatchObject({ status: 200, heading: ANSWERED });
    expect(await read(here, asked.id)).toMatchObject({
      status: 'accepted',
      settlement: { surface: 'answer-page', content: { seat: 'aisle', bags: 2 } },
    });
    expect((await browser.open(asked.path)).heading).toBe(ANSWERED);
  });

  test('sees what the client consented to open, and answers that', async () => {
    const { here, asked, browser, question } = await entered();
    const consent = { action: 'accept' } as const;
    await here.engine.answer({
      caller: { kind: 'user', ...ADA },
      id: asked.id,
      response: consent,
      surface: 'chat',
    });
    expect(await here.status(asked.id)).toBe('opened');
    expect((await browser.submit(question, 'accept', ANSWER)).heading).toBe(ANSWERED);
  });

  test('declines', async () => {
    const { here, asked, browser, question } = await entered();
    expect((await browser.submit(question, 'decline')).heading).toBe(SAYS.declined);
    expect(await read(here, asked.id)).toMatchObject({
      status: 'declined',
      settlement: { surface: 'answer-page' },
    });
  });

  test('is signed in once for the connect page and this one', async () => {
    const { here, browser } = await entered();
    const { path } = await here.ask();
    expect((await browser.open(path)).forms.has('start')).toBe(true);
    expect((await browser.open((await ask(here)).path)).html).toContain(MESSAGE);
  });

  test('may answer although the question has a link, and sees how it ended afterwards', async () => {
    const here = await world();
    const asked = await ask(here);
    const { token } = await issueLink(here, asked.id);
    const browser = createTestBrowser(here);
    const entry = await browser.open(asked.path);
    expect(entry.heading).toBe(ENTRY);
    expect(entry.html).toContain(`href="${asked.path}?sign-in"`);
    const question = await browser.enter(`${asked.path}?sign-in`, 'ada');
    expect((await browser.submit(question, 'accept', ANSWER)).heading).toBe(ANSWERED);
    expect((await browser.open(asked.path)).heading).toBe(ANSWERED);
    const guest = createTestBrowser(here);
    const late = await guest.submit(await guest.open(asked.path), 'open', { token });
    expect(late.heading).toBe(SAYS.settled);
  });

  test('sees an ended question as ended', async () => {
    const { here, asked, browser, question } = await entered();
    const caller = { kind: 'service', tenant: ADA.tenant } as const;
    await here.engine.withdraw({ caller, id: asked.id, reason: 'done' });
    expect((await browser.submit(question, 'accept', ANSWER)).heading).toBe(SAYS.settled);
    const late = await ask(here, { timeoutSeconds: 1 });
    await here.expired(late.id);
    for (const one of [browser, createTestBrowser(here)])
      expect((await one.open(late.path)).heading).toBe(SAYS.expired);
  });
});

test('without a sign-in at Parley there is no page for owners', async () => {
  const here = await world({ identity: createBoundIdentity('https://app.example/who') });
  const asked = await ask(here);
  const browser = createTestBrowser(here);
  const entry = await browser.open(`${asked.path}?sign-in`);
  expect(entry.heading).toBe(ENTRY);
  expect(entry.html).not.toContain('sign-in');
  for (const action of ['sign-in', 'signed-in/accept', 'signed-in/decline'])
    expect((await browser.post(`${asked.path}/${action}`, {})).heading).toBe(SAYS.notFound);
  expect(await here.status(asked.id)).toBe('pending');
});

describe('an attack on the page of an owner', () => {
  test('by another signed-in person shows nothing, answers nothing, and counts', async () => {
    const here = await world({ deps: { failuresMax: 3 } });
    const asked = await ask(here);
    const mallory = createTestBrowser(here);
    const shown = await mallory.enter(asked.path, 'bob');
    expect([shown.status, shown.heading]).toEqual([403, MISMATCH]);
    expect(here.events).toMatchObject([{ type: 'mismatch', elicitationId: asked.id, tenant: ADA.tenant }]);
    for (const hidden of ['ada', 'seat', MESSAGE]) expect(shown.html).not.toContain(hidden);
    const csrf = (await mallory.open(asked.path)).forms.get('sign-out')?.fields.csrf ?? '';
    const headings: string[] = [];
    for (const action of ['accept', 'decline', 'accept'])
      headings.push((await mallory.post(`${asked.path}/signed-in/${action}`, { csrf, ...ANSWER })).heading);
    expect(headings).toEqual([MISMATCH, MISMATCH, SAYS.tooMany]);
    expect(await here.status(asked.id)).toBe('pending');
  });

  test('by a person of another tenant with the same id is refused', async () => {
    const here = await world({ identity: 'typed' });
    const { row } = await here.engine.ask({
      tenant: 'globex',
      input: { userId: ADA.userId, mode: 'form', message: MESSAGE, requestedSchema: SEAT_FORM },
      onAnswerPage: true,
    });
    const browser = createTestBrowser(here);
    const path = `/auth/answer/${row.id}`;
    for (const shown of [await browser.enter(path, 'ada'), await browser.open(path)])
      expect([shown.status, shown.heading]).toEqual([403, MISMATCH]);
  });

  test('by a browser that nobody signed in at, or that only has the cookie of a link, answers nothing', async () => {
    const { here, asked, question } = await entered();
    const stranger = createTestBrowser(here);
    const signIn = await stranger.open(asked.path);
    expect(signIn.heading).toBe(SAYS.signIn);
    const { csrf = '' } = signIn.forms.get('sign-in')?.fields ?? {};
    const posted = await stranger.post(`${asked.path}/signed-in/accept`, { csrf, ...ANSWER });
    expect(posted.heading).toBe(SAYS.signIn);
    const withOwners = { ...question.forms.get('accept')?.fields, ...ANSWER };
    expect((await stranger.post(`${asked.path}/signed-in/accept`, withOwners)).heading).toBe(SAYS.refused);
    expect((await stranger.post(`${asked.path}/accept`, withOwners)).heading).toBe(SAYS.refused);
    expect(await here.status(asked.id)).toBe('pending');
  });

  test('has no form for a url question, nor an answer to one', async () => {
    const { here, browser } = await entered();
    const connect = await here.ask();
    expect((await browser.open(`/auth/answer/${connect.id}`)).heading).toBe(SAYS.notFound);
    const paying = await ask(here, { mode: 'url', url: 'https://pay.example/bill/42', completion: 'server' });
    const question = await browser.open(paying.path);
    expect(question.html).not.toContain('field-0');
    const left = await browser.submit(question, 'accept', ANSWER);
    expect(left.link).toBe('https://pay.example/bill/42');
    expect(await read(here, paying.id)).toMatchObject({ status: 'opened' });
    expect(await here.status(connect.id)).toBe('pending');
  });

  test('finds no answer and no name in logs or addresses', async () => {
    const { here, browser, question } = await entered();
    await browser.submit(question, 'accept', { 'field-0': '1', 'field-1': '3' });
    for (const text of [...here.lines, ...question.hops]) {
      expect(text).not.toContain('aisle');
      expect(text).not.toContain(MESSAGE);
    }
    for (const hop of question.hops) expect(hop).not.toContain('ada');
  });
});
