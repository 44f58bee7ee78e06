import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { describe, expect, test } from 'vitest';
import { createAnswerLinks } from '../../../services/api/src/pages/answer/links.ts';
import { decideAs, requestApproval } from '../../harness/engines/approvals.ts';
import { createTestBrowser, headingOf, SAYS, type TestBrowser } from '../../harness/pages/browser.ts';
import { ADA, type World } from '../../harness/pages/setup.ts';
import { askAboutSeat, callAnswerLink, ENTRY, issueLink, MESSAGE } from './seat-question.ts';
import { pagesSuite, type WorldOptions } from './suite.ts';

const { world, dump } = pagesSuite();

const ANSWERED = SAYS.ended('answered');
const SPENT = headingOf({ page: 'answer-spent' });

const SEAT_FORM: AskInput['requestedSchema'] = {
  type: 'object',
  properties: {
    seat: { type: 'string', enum: ['window', 'aisle'] },
    bags: { type: 'integer', minimum: 0, maximum: 3 },
    meals: { type: 'array', items: { type: 'string', enum: ['vegan', 'halal', 'none'] } },
    note: { type: 'string', maxLength: 500 },
    insured: { type: 'boolean' },
  },
  required: ['seat', 'bags'],
};

type Asked = Awaited<ReturnType<typeof ask>>;

const ask = (here: World, more: Partial<AskInput> = {}) =>
  askAboutSeat(here, { requestedSchema: SEAT_FORM }, more);

/** Opens a link as a browser with scripts does: the token leaves the address and goes into the form. */
async function openLink(browser: TestBrowser, { path }: Asked, token: string) {
  const entry = await browser.open(path);
  expect(entry.heading).toBe(ENTRY);
  return browser.submit(entry, 'open', { token });
}

/** A question, its link, and the browser that has opened it. */
async function opened(more: Partial<AskInput> = {}, link?: object) {
  const here = await world();
  const asked = await ask(here, more);
  const { url, token } = await issueLink(here, asked.id, link);
  const browser = createTestBrowser(here);
  return { here, asked, url, token, browser, question: await openLink(browser, asked, token) };
}

const read = async (here: World, id: string) => (await here.backend.elicitations.read(id)).row;

test('a person without a token answers by the link, on any pod', async () => {
  const { here, asked, url, browser, question } = await opened();
  expect(url).toBe(`${here.publicUrl}${asked.path}#${new URL(url).hash.slice(1)}`);
  expect(question).toMatchObject({ status: 200, hops: [asked.path] });
  expect(question.html).toContain(MESSAGE);
  const answered = await browser.submit(question, 'accept', {
    'field-0': '1',
    'field-1': ' 2 ',
    'field-2': '0',
    'field-3': 'one\r\ntwo',
    'field-4': 'false',
  });
  expect(answered).toMatchObject({ status: 200, heading: ANSWERED });
  expect(await read(here, asked.id)).toMatchObject({
    status: 'accepted',
    settlement: {
      surface: 'answer-link',
      content: { seat: 'aisle', bags: 2, meals: ['vegan'], note: 'one\ntwo', insured: false },
    },
  });
  expect((await browser.open(asked.path)).heading).toBe(ANSWERED);
});

test('opening the address without its secret reads nothing of the question and changes nothing', async () => {
  const here = await world();
  const asked = await ask(here);
  const { token } = await issueLink(here, asked.id);
  const before = await dump();
  for (let visit = 0; visit < 3; visit += 1) {
    const scanner = await createTestBrowser(here).open(asked.path);
    expect(scanner.heading).toBe(ENTRY);
    expect(scanner.html).not.toContain('seat');
  }
  expect(await dump()).toEqual(before);
  expect((await openLink(createTestBrowser(here), asked, token)).html).toContain(MESSAGE);
});

test('the link serves the first browser that opens it, again and again, and no other', async () => {
  const { here, asked, token, browser } = await opened();
  expect((await openLink(createTestBrowser(here), asked, token)).heading).toBe(SPENT);
  const entry = await createTestBrowser(here).open(asked.path);
  const again = await browser.post(`${asked.path}/open`, {
    ...(await browser.open(asked.path)).forms.get('accept')?.fields,
    token,
  });
  expect(again.html).toContain(MESSAGE);
  expect(entry.heading).toBe(ENTRY);
});

test('a person who planted a cookie in the browser that opens a link sees nothing of the question', async () => {
  const here = await world();
  const asked = await ask(here);
  const { token } = await issueLink(here, asked.id);
  const [planter, person] = [createTestBrowser(here), createTestBrowser(here)];
  const planted = await planter.open(asked.path);
  const address = here.publicUrl + asked.path;
  // An earlier person of a shared computer may have left it.
  person.jar.store(address, [`${planter.jar.header(address)}; Path=/`]);
  const question = await openLink(person, asked, token);
  expect(question.html).toContain(MESSAGE);
  expect((await planter.open(asked.path)).html).not.toContain(MESSAGE);
  const answer = { ...question.forms.get('accept')?.fields, ...planted.forms.get('open')?.fields };
  const stolen = await planter.post(`${asked.path}/accept`, { ...answer, 'field-0': '0', 'field-1': '1' });
  expect(stolen.heading).toBe(ENTRY);
  const answered = await person.submit(question, 'accept', { 'field-0': '0', 'field-1': '1' });
  expect(answered.heading).toBe(ANSWERED);
});

test('two links stay open in one browser, and a form that is sent twice opens its link once', async () => {
  const here = await world();
  const browser = createTestBrowser(here);
  const both = [await ask(here), await ask(here)];
  const questions = [];
  for (const asked of both) {
    const { token } = await issueLink(here, asked.id);
    const entry = await browser.open(asked.path);
    const sent = await Promise.all([1, 2].map(() => browser.submit(entry, 'open', { token })));
    expect(sent.map(({ html }) => html.includes(MESSAGE))).toEqual([true, true]);
    questions.push(sent[1]);
  }
  for (const [at, asked] of both.entries()) {
    const question = questions[at] ?? (await browser.open(asked.path));
    const answered = await browser.submit(question, 'accept', { 'field-0': '0', 'field-1': '1' });
    expect(answered.heading).toBe(ANSWERED);
  }
});

test('signing in on the connect pages does not take the question away from its browser', async () => {
  const { here, asked, browser } = await opened();
  const { path } = await here.ask();
  expect((await browser.enter(path, 'bob')).heading).toBe(SAYS.mismatch);
  const question = await browser.open(asked.path);
  expect(question.html).toContain(MESSAGE);
  expect((await browser.submit(question, 'accept', { 'field-0': '0', 'field-1': '1' })).heading).toBe(
    ANSWERED,
  );
});

test('no other token opens a question', async () => {
  const here = await world();
  const asked = await ask(here);
  const other = await ask(here);
  const { token } = await issueLink(here, asked.id);
  const { token: ofOther } = await issueLink(here, other.id);
  const wrong = [
    '',
    'x',
    ofOther,
    token.slice(1),
    `${token}A`,
    token.toUpperCase(),
    '%00',
    `${token}\n${token}`,
  ];
  for (const one of wrong) {
    const browser = createTestBrowser(here);
    expect((await openLink(browser, asked, one)).heading, JSON.stringify(one)).toBe(SPENT);
    const posted = await browser.post(`${asked.path}/accept`, {
      ...(await browser.open(asked.path)).forms.get('open')?.fields,
      'field-0': '0',
      'field-1': '1',
    });
    expect(posted.heading).toBe(ENTRY);
  }
  expect((await read(here, asked.id))?.status).toBe('pending');
  // A whole link, as a person without scripts pastes it.
  const pasted = await openLink(createTestBrowser(here), asked, `${here.publicUrl}${asked.path}#${token}`);
  expect(pasted.html).toContain(MESSAGE);
});

test('a revoked link and one that a newer link replaced are of no use, not even where they were open', async () => {
  const { here, asked, token, browser, question } = await opened();
  expect(await callAnswerLink(here, asked.id, { method: 'DELETE' })).toEqual({
    status: 200,
    body: { revoked: true },
  });
  expect(await callAnswerLink(here, asked.id, { method: 'DELETE' })).toEqual({
    status: 200,
    body: { revoked: false },
  });
  const late = await browser.submit(question, 'accept', { 'field-0': '0', 'field-1': '1' });
  expect(late.heading).toBe(ENTRY);
  expect((await openLink(createTestBrowser(here), asked, token)).heading).toBe(SPENT);

  const { token: second } = await issueLink(here, asked.id);
  const { token: third } = await issueLink(here, asked.id);
  expect((await openLink(createTestBrowser(here), asked, second)).heading).toBe(SPENT);
  expect((await openLink(createTestBrowser(here), asked, third)).html).toContain(MESSAGE);
  expect((await read(here, asked.id))?.status).toBe('pending');
});

test('what does not fit the form is marked, stays typed, and leaves the question open', async () => {
  const { here, asked, browser, question } = await opened();
  const faulty = await browser.submit(question, 'accept', { 'field-1': '2.5', 'field-3': '<b>note</b>' });
  expect(faulty.status).toBe(422);
  expect(faulty.html).toContain('This field is required.');
  expect(faulty.html).toContain('Enter a whole number.');
  expect(faulty.html).toContain('value="2.5"');
  expect(faulty.html).toContain('&lt;b&gt;note&lt;/b&gt;');
  expect((await read(here, asked.id))?.status).toBe('pending');
  const mended = await browser.submit(faulty, 'accept', { 'field-0': '0', 'field-1': '2' });
  expect(mended.heading).toBe(ANSWERED);
});

test('the same answer twice is one answer; another one changes nothing', async () => {
  const { here, asked, browser, question } = await opened();
  const answer = { 'field-0': '0', 'field-1': '1' };
  const both = await Promise.all([
    browser.submit(question, 'accept', answer),
    browser.submit(question, 'accept', answer),
  ]);
  expect(both.map(({ heading }) => heading)).toEqual([ANSWERED, ANSWERED]);
  const changed = await browser.submit(question, 'accept', { ...answer, 'field-1': '3' });
  expect(changed.heading).toBe(ANSWERED);
  expect(await read(here, asked.id)).toMatchObject({ settlement: { content: { seat: 'window', bags: 1 } } });
});

test('an answer that was given elsewhere is not claimed as given here', async () => {
  const { here, asked, browser, question } = await opened();
  const caller = { kind: 'user', ...ADA } as const;
  const response = { action: 'accept', content: { seat: 'aisle', bags: 0 } } as const;
  await here.engine.answer({ caller, id: asked.id, response, surface: 'chat' });
  const late = await browser.submit(question, 'accept', { 'field-0': '0', 'field-1': '1' });
  expect(late.heading).toBe(SAYS.ended('settled'));
});

test('guessing tokens locks the address out', async () => {
  const here = await world({ deps: { failuresMax: 3 } });
  const asked = await ask(here);
  const { token } = await issueLink(here, asked.id);
  const headings: string[] = [];
  for (let guess = 0; guess < 5; guess += 1)
    headings.push((await openLink(createTestBrowser(here), asked, 'A'.repeat(43))).heading);
  expect(headings).toEqual([SPENT, SPENT, SPENT, SAYS.tooMany, SAYS.tooMany]);
  expect((await openLink(createTestBrowser(here), asked, token)).heading).toBe(SAYS.tooMany);
});

test('only a key of the tenant with the scope makes links, and only where a link can lead to an answer', async () => {
  const here = await world();
  const asked = await ask(here);
  expect(await callAnswerLink(here, asked.id, { key: 'a-service-key' })).toMatchObject({
    status: 403,
    body: { code: 'forbidden', detail: expect.stringContaining('scope') },
  });
  const refused = async (id: string, key?: string) =>
    (await callAnswerLink(here, id, key === undefined ? {} : { key })).body;
  expect(await refused(asked.id, 'another-linking-key')).toMatchObject({ code: 'not_found' });
  expect(await refused('el_none')).toMatchObject({ code: 'not_found' });
  const connect = await here.ask();
  expect(await refused(connect.id)).toMatchObject({ code: 'invalid_request' });
  const sensitive = await ask(here, { sensitive: true });
  expect(await refused(sensitive.id)).toMatchObject({
    code: 'invalid_request',
    errors: [{ path: 'allowSensitive' }],
  });
  await issueLink(here, sensitive.id, { allowSensitive: true });
  for (const body of [{ expiresInSeconds: 1 }, { expiresInSeconds: 100_000 }, { unknown: true }])
    expect(await callAnswerLink(here, asked.id, { body })).toMatchObject({
      body: { code: 'invalid_request' },
    });
  const response = { action: 'accept', content: { seat: 'aisle', bags: 0 } } as const;
  await here.engine.answer({ caller: { kind: 'user', ...ADA }, id: asked.id, response, surface: 'chat' });
  const late = await refused(asked.id);
  expect(late).toMatchObject({ code: 'already_settled', elicitation: { status: 'accepted' } });
  // A key that makes links may not read answers.
  expect(late.elicitation).not.toHaveProperty('content');
});

test('a link ends with its question', async () => {
  const here = await world();
  const asked = await ask(here, { timeoutSeconds: 60 });
  const { body } = await callAnswerLink(here, asked.id);
  expect(Date.parse(String(body.expiresAt))).toBe((await read(here, asked.id))?.expiresAt);
  const browser = createTestBrowser(here);
  const question = await openLink(browser, asked, new URL(String(body.url)).hash.slice(1));
  await here.engine.withdraw({ caller: { kind: 'service', tenant: 'acme' }, id: asked.id, reason: 'done' });
  const late = await browser.submit(question, 'accept', { 'field-0': '0', 'field-1': '1' });
  expect(late.heading).toBe(SAYS.ended('settled'));
});

test('neither the token nor an answer stands in logs, in Redis beside the row, or in an address', async () => {
  const { here, token, browser, question } = await opened();
  await browser.submit(question, 'accept', { 'field-0': '0', 'field-1': '1', 'field-3': 'my own words' });
  expect(here.events.map((event) => ('change' in event ? event.change : event.type))).toEqual([
    'made',
    'opened',
  ]);
  expect(here.events[0]).toMatchObject({ key: 'linker' });
  const stored = await dump();
  for (const text of [...here.lines, ...question.hops, ...stored]) expect(text).not.toContain(token);
  for (const text of here.lines) expect(text).not.toContain('my own words');
  expect(stored.filter((text) => text.includes('my own words')).map((text) => text.split(' ')[0])).toEqual([
    expect.stringMatching(/:elicitation:/),
  ]);
});

describe('a link to an approval', () => {
  const STREAM = { ...ADA, streamRequestId: 'run 1' };
  const CLOSED = headingOf({ page: 'answer-entry', enter: { action: '/', csrf: '' }, about: 'approval' });
  const approvedHeading = headingOf({ page: 'approval-ended', ended: 'approved' });

  /** A call that waits for Ada, and the token of its link. */
  async function requested(options: WorldOptions = {}) {
    const here = await world(options);
    const { row } = await requestApproval(here.engine, STREAM);
    const read = async () => (await here.engine.approvals.read({ kind: 'user', ...ADA }, row.id)).row;
    return { here, id: row.id, path: `/auth/answer/${row.id}`, read };
  }

  /** The same, and the browser that has opened the link. */
  async function shownByLink() {
    const at = await requested();
    const { token } = await issueLink(at.here, at.id);
    const browser = createTestBrowser(at.here);
    const entry = await browser.open(at.path);
    expect(entry.heading).toBe(CLOSED);
    expect(entry.html).not.toContain('B-1');
    return { ...at, token, browser, shown: await browser.submit(entry, 'open', { token }) };
  }

  test.each([
    ['approve', { remember: 'on' }, { decision: 'approve', surface: 'answer-link' }],
    ['deny', { reason: 'No.' }, { decision: 'deny', surface: 'answer-link', reason: 'No.' }],
  ] as const)(
    'takes %s of the browser that opened it, once, and remembers nothing',
    async (form, fields, settlement) => {
      const { browser, here, path, read, shown } = await shownByLink();
      for (const text of ['Travel desk', 'B-1', '•••••• (secret, not shown)'])
        expect(shown.html).toContain(text);
      for (const text of ['Signed in as', 'name="remember"']) expect(shown.html).not.toContain(text);
      const decided = await browser.submit(shown, form, fields);
      expect(decided.status).toBe(200);
      expect((await read()).settlement).toEqual(settlement);
      expect((await browser.open(path)).heading).toBe(decided.heading);
      expect(await here.engine.approvals.grants.list(ADA)).toEqual([]);
      expect(here.events.map((event) => ('change' in event ? event.change : event.type))).toEqual([
        'made',
        'opened',
      ]);
    },
  );

  test('opens in no other browser, and nothing without its token or the token of its form', async () => {
    const { browser, here, id, path, read, shown, token } = await shownByLink();
    const other = createTestBrowser(here);
    const entry = await other.open(path);
    expect((await other.submit(entry, 'open', { token })).heading).toBe(SPENT);
    const { csrf = '' } = entry.forms.get('open')?.fields ?? {};
    const own = shown.forms.get('approve')?.fields ?? {};
    const posts: [TestBrowser, Record<string, string>, string, Record<string, string>?][] = [
      [other, { csrf }, CLOSED],
      [other, own, SAYS.refused],
      [browser, { csrf: '' }, SAYS.refused],
      [browser, own, SAYS.refused, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ];
    for (const [by, fields, heading, headers = {}] of posts)
      expect((await by.post(`${path}/by-link/approve`, fields, { headers })).heading).toBe(heading);
    // The door of the signed-in person does not take the browser of a link.
    expect((await browser.post(`${path}/approve`, own)).heading).toBe(SAYS.refused);
    const asked = await ask(here);
    const { token: ofQuestion } = await issueLink(here, asked.id);
    expect((await other.submit(await other.open(path), 'open', { token: ofQuestion })).heading).toBe(SPENT);
    await callAnswerLink(here, id, { method: 'DELETE' });
    expect((await browser.submit(shown, 'approve')).heading).toBe(CLOSED);
    expect((await read()).status).toBe('pending');
  });

  test('leaves its person the way to sign in', async () => {
    const { here, path, read } = await shownByLink();
    const owner = createTestBrowser(here);
    expect((await owner.open(path)).html).toContain(`href="${path}?sign-in"`);
    const page = await owner.enter(`${path}?sign-in`, 'ada');
    expect((await owner.submit(page, 'approve')).heading).toBe(approvedHeading);
    expect((await owner.open(path)).heading).toBe(approvedHeading);
    expect((await read()).settlement?.surface).toBe('answer-page');
  });

  test('is made by a key with the scope, for its tenant, while the call waits', async () => {
    const { here, id, read } = await requested();
    expect(await callAnswerLink(here, id, { key: 'a-service-key' })).toMatchObject({ status: 403 });
    expect(await callAnswerLink(here, id, { key: 'another-linking-key' })).toMatchObject({ status: 404 });
    expect(await callAnswerLink(here, id, { body: { allowSensitive: true } })).toMatchObject({ status: 400 });
    const { body } = await callAnswerLink(here, id, { body: { expiresInSeconds: 86_400 } });
    expect(Date.parse(String(body.expiresAt))).toBe((await read()).expiresAt);
    await decideAs(here.engine, STREAM, id, { decision: 'deny', reason: 'My own words.' });
    const late = await callAnswerLink(here, id);
    expect(late).toMatchObject({
      status: 409,
      body: { code: 'already_settled', approval: { approvalId: id, status: 'denied' } },
    });
    expect(JSON.stringify(late.body)).not.toContain('My own words.');
    const { row: high } = await requestApproval(here.engine, STREAM, { risk: 'high' });
    expect(await callAnswerLink(here, high.id)).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'allowHighRisk' }] },
    });
    expect((await callAnswerLink(here, high.id, { body: { allowHighRisk: true } })).status).toBe(201);
  });

  test('closes for the browser that has opened it when the deployment has none any more', async () => {
    const { browser, here, path, read, shown } = await shownByLink();
    const later = await world({ deps: { linksApprovals: false } });
    const headers = { cookie: browser.jar.header(`${here.publicUrl}${path}`) };
    const { fields = {} } = shown.forms.get('approve') ?? {};
    const posted = await createTestBrowser(later).post(`${path}/by-link/approve`, fields, { headers });
    expect(posted.heading).toBe(SAYS.notFound);
    expect((await read()).status).toBe('pending');
    expect((await browser.submit(shown, 'approve')).heading).toBe(approvedHeading);
  });

  test('is refused, and opens nothing, where the deployment has none', async () => {
    const deps = { linksApprovals: false };
    const { here, id, path } = await requested({ deps });
    expect(await callAnswerLink(here, id)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('PARLEY_APPROVAL_LINKS') },
    });
    const token = await createAnswerLinks(here.deps.store).issue(id, { now: 0, opensUntil: 2 ** 45 });
    const browser = createTestBrowser(here);
    const signIn = await browser.open(path);
    expect(signIn.heading).toBe(SAYS.signIn);
    const { csrf = '' } = signIn.forms.get('sign-in')?.fields ?? {};
    expect((await browser.post(`${path}/open`, { csrf, token })).heading).not.toContain('wants to use');
    expect((await browser.open(path)).heading).toBe(SAYS.signIn);
  });
});
