import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import type { ApprovalStatus } from '@parley/core/domain/approvals/status';
import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import { describe, expect, test } from 'vitest';
import { createBoundIdentity } from '../../../services/api/src/pages/identity/bound.ts';
import { createCookieJar } from '../../../stand-ins/authorization-server/walk.ts';
import { decideAs, requestApproval } from '../../harness/engines/approvals.ts';
import { paced } from '../../harness/pace.ts';
import { createTestBrowser, headingOf, SAYS, type Shown } from '../../harness/pages/browser.ts';
import { ADA, type World } from '../../harness/pages/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { askAboutSeat, ENTRY, issueLink, MESSAGE } from './seat-question.ts';
import { pagesSuite, type WorldOptions } from './suite.ts';

const { world } = pagesSuite();

const ANSWERED = SAYS.ended('answered');
const MISMATCH = headingOf({ page: 'mismatch', about: 'answer' });
const TOO_LATE = 'came too late and was not recorded';
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
    expect((await browser.submit(question, 'decline')).heading).toBe(SAYS.ended('declined'));
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
    expect(late.heading).toBe(SAYS.ended('settled'));
  });

  test.each([
    ['Travel desk', { context: { trigger: 'agent', agent: 'Travel desk' } }, 'Travel desk'],
    ['the key by its name', { context: { trigger: 'agent', agent: ' ' } }, 'billing'],
  ])('reads who asks: %s', async (_, more, named) => {
    const here = await world({ identity: 'typed' });
    const input = {
      userId: 'ada',
      mode: 'form',
      message: MESSAGE,
      requestedSchema: SEAT_FORM,
      ...more,
    } as const;
    const { row } = await here.engine.ask({
      tenant: ADA.tenant,
      input,
      askedBy: 'billing',
      askerName: 'billing',
    });
    const shown = await createTestBrowser(here).enter(`/auth/answer/${row.id}`, 'ada');
    expect(shown.html).toContain(`<bdi class="name">${named}</bdi> wrote`);
  });

  test('sees an ended question as ended', async () => {
    const { here, asked, browser, question } = await entered();
    const caller = { kind: 'service', tenant: ADA.tenant } as const;
    await here.engine.withdraw({ caller, id: asked.id, reason: 'done' });
    const refused = await browser.submit(question, 'accept', ANSWER);
    expect([refused.status, refused.heading]).toEqual([409, SAYS.ended('settled')]);
    expect(refused.html).toContain(TOO_LATE);
    const late = await ask(here, { timeoutSeconds: 1 });
    await here.expired(late.id);
    for (const one of [browser, createTestBrowser(here)])
      expect((await one.open(late.path)).heading).toBe(SAYS.ended('expired'));
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

describe('the page of an approval', () => {
  const STREAM = { ...ADA, streamRequestId: 'run 1' };
  const TOOL = {
    server: 'bk-prod-7',
    serverTitle: 'Bookings',
    name: 'bookings_cancel',
    title: 'Cancel a booking',
    hints: { destructive: true },
  };
  const says = (ended: 'approved' | 'denied' | 'edited' | 'expired' | 'withdrawn') =>
    headingOf({ page: 'approval-ended', ended });

  /** A call that waits for Ada, who is signed in and before its page. */
  async function asked(more: Partial<ApprovalDefinition> = {}, options: WorldOptions = {}) {
    const here = await world(options);
    const { row } = await requestApproval(here.engine, STREAM, { tool: TOOL, ...more });
    const path = `/auth/answer/${row.id}`;
    const browser = createTestBrowser(here);
    const read = async () => (await here.engine.approvals.read({ kind: 'user', ...ADA }, row.id)).row;
    return { here, id: row.id, path, browser, read, shown: await browser.enter(path, 'ada') };
  }

  test('shows who asks, the tool and what is sent, with masks, and approves once, on any pod', async () => {
    const secret = { token: '••••••' };
    const args = { booking: '<b>B-1</b>', apiKey: '••••••', nested: secret, none: null, note: '' };
    const { browser, path, read, shown } = await asked({
      arguments: args,
      masked: ['/apiKey', '/nested/token'],
    });
    expect(shown).toMatchObject({
      status: 200,
      hops: [path],
      heading: 'Travel desk wants to use “Cancel a booking”',
    });
    for (const text of [
      ...[
        'Bookings',
        'bookings_cancel',
        'Can change or delete things',
        '&lt;b&gt;B-1',
        '•••••• (secret, not shown)',
      ],
      ...[
        '&quot;token&quot;: &quot;••••••&quot;',
        'null',
        'empty text',
        'Time left to decide',
        'decide in the chat, or in the inbox of your application',
      ],
    ])
      expect(shown.html).toContain(text);
    expect(shown.html).not.toContain('bk-prod-7');
    expect(shown.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    for (const again of [1, 2])
      expect([again, (await browser.submit(shown, 'approve')).heading]).toEqual([again, says('approved')]);
    const late = await browser.submit(shown, 'deny', { reason: 'no' });
    expect([late.status, late.heading]).toEqual([409, says('approved')]);
    expect(late.html).toContain(TOO_LATE);
    const { status, settlement } = await read();
    expect([status, settlement?.surface, settlement?.remember]).toEqual([
      'approved',
      'answer-page',
      undefined,
    ]);
    expect((await browser.open(path)).heading).toBe(says('approved'));
  });

  test.each([
    ['deny', { reason: ' Not today.\r\nAsk Bob. ' }, 'denied', { reason: 'Not today.\nAsk Bob.' }],
    ['deny', { reason: ' ' }, 'denied', {}],
    ['approve', { remember: 'on', reason: 'ignored' }, 'approved', { remember: true }],
  ] as const)('records %s with %j', async (form, fields, status, settlement) => {
    const { browser, read, shown } = await asked();
    expect(shown.html).toContain('Do not ask again in this conversation');
    expect(await browser.submit(shown, form, fields)).toMatchObject({ status: 200, heading: says(status) });
    const surface = 'answer-page';
    expect((await read()).settlement).toEqual({ decision: form, surface, ...settlement });
  });

  test('offers no choice that the approval does not have', async () => {
    const { browser, read, shown } = await asked({ remember: undefined, inputSchema: undefined } as never);
    for (const text of ['name="remember"', 'decide in the chat']) expect(shown.html).not.toContain(text);
    expect((await browser.submit(shown, 'approve', { remember: 'on' })).heading).toBe(shown.heading);
    expect((await read()).status).toBe('pending');
  });

  test('takes no reason that cannot be sent, and decides nothing', async () => {
    const { browser, read, shown } = await asked();
    for (const reason of ['a\0b', 'x'.repeat(2_001)]) {
      const again = await browser.submit(shown, 'deny', { reason });
      expect([again.status, again.heading]).toEqual([422, shown.heading]);
      expect(again.html).toContain('Nothing was decided.');
    }
    expect((await read()).status).toBe('pending');
  });

  test.each([
    [
      'edited',
      200,
      (here: World, id: string) =>
        decideAs(here.engine, STREAM, id, {
          decision: 'edit',
          arguments: { booking: 'B-2', apiKey: '••••••' },
        }),
    ],
    ['denied', 200, (here: World, id: string) => decideAs(here.engine, STREAM, id, { decision: 'deny' })],
    [
      'withdrawn',
      409,
      (here: World, id: string) =>
        here.engine.approvals.withdraw({
          caller: { kind: 'service', tenant: ADA.tenant },
          id,
          reason: 'run_stopped',
        }),
    ],
  ] as const)('says of one that was %s elsewhere that it was', async (status, code, end) => {
    const { here, id, path, browser, shown } = await asked();
    await end(here, id);
    const late = await browser.submit(shown, 'approve');
    expect([late.status, late.heading]).toEqual([409, says(status)]);
    expect(late.html).toContain(TOO_LATE);
    const now = await browser.open(path);
    expect([now.status, now.heading]).toEqual([code, says(status)]);
    expect(now.html).not.toContain(TOO_LATE);
  });

  test('says of one that a newer build ended in its own way that it has ended', async () => {
    const { here, id, path, browser, shown } = await asked();
    const status = 'escalated' as ApprovalStatus;
    const event = { type: 'approval-resolved', approvalId: id, revision: 2, status } as const;
    const { row } = await here.engine.approvals.read({ kind: 'user', ...ADA }, id);
    const step = { status, settlement: {}, event, guard: 'open' } as const;
    expect((await here.backend.approvals.commit(row as never, step)).committed).toBe(true);
    for (const page of [await browser.submit(shown, 'approve'), await browser.open(path)])
      expect([page.status, page.heading]).toEqual([409, SAYS.ended('settled')]);
  });

  test('is decided once, also by an approval here and a denial in the chat at the same moment', async () => {
    const { here, id, browser, read, shown } = await asked();
    const [page, denial] = await Promise.all([
      browser.submit(shown, 'approve'),
      decideAs(here.engine, STREAM, id, { decision: 'deny' }).then(
        () => 'denied' as const,
        () => 'approved' as const,
      ),
    ]);
    const { status, settlement } = await read();
    const isOurs = status === 'approved';
    expect([denial, settlement?.surface]).toEqual([status, isOurs ? 'answer-page' : 'chat']);
    expect([page.status, page.heading]).toEqual([isOurs ? 200 : 409, says(denial)]);
    expect(page.html.includes(TOO_LATE)).toBe(!isOurs);
  });

  test('says of one whose time is over that it is', async () => {
    // Long enough that the page is opened before, also where the process waits for a core.
    const { browser, path, read, shown } = await asked({ timeoutSeconds: Math.ceil(paced(4_000) / 1_000) });
    let late: Shown = shown;
    await waitUntil(
      async () => {
        late = await browser.open(path);
        return late.heading === says('expired');
      },
      { what: 'the deadline' },
    );
    expect([late.status, late.heading]).toEqual([410, says('expired')]);
    const decided = await browser.submit(shown, 'approve');
    expect([decided.status, decided.heading]).toEqual([410, says('expired')]);
    expect(decided.html).toContain(TOO_LATE);
    expect((await read()).status).toBe('expired');
  });

  test('is the same 404 for another person as one that there is not, and counts their tries', async () => {
    const { here, path, read } = await asked({}, { deps: { failuresMax: 2 } });
    const unknown = `${path.slice(0, -4)}AAAA`;
    const bob = createTestBrowser(here);
    const stranger = await bob.open(path);
    const elsewhere = await bob.open(unknown);
    expect([stranger.heading, elsewhere.heading]).toEqual([SAYS.signIn, SAYS.signIn]);
    const { csrf = '' } = stranger.forms.get('sign-in')?.fields ?? {};
    expect((await bob.post(`${path}/approve`, { csrf })).heading).toBe(SAYS.signIn);
    const shown = await bob.enter(path, 'bob');
    expect([shown.status, shown.heading]).toEqual([404, SAYS.notFound]);
    const missing = await bob.open(unknown);
    expect(missing.html.replaceAll(unknown, path).replace(/nonce="[^"]+"/g, '')).toBe(
      shown.html.replace(/nonce="[^"]+"/g, ''),
    );
    const fields = shown.forms.get('sign-out')?.fields ?? {};
    const headings: string[] = [];
    for (const action of ['approve', 'deny', 'approve'])
      headings.push((await bob.post(`${path}/${action}`, fields)).heading);
    expect(headings).toEqual([SAYS.notFound, SAYS.notFound, SAYS.tooMany]);
    expect((await read()).status).toBe('pending');
    expect((await createTestBrowser(here).enter(`${path}/x`, 'ada')).heading).toBe(SAYS.notFound);
    expect(here.lines.join()).not.toContain('B-1');
  });

  test('leads another person from there to a sign-in as the one whose it is', async () => {
    const { here, path, shown } = await asked();
    const browser = createTestBrowser(here);
    const missing = await browser.enter(path, 'bob');
    const signIn = await browser.submit(missing, 'sign-out');
    expect(signIn.heading).toBe(SAYS.signIn);
    const left = await browser.submit(signIn, 'sign-in');
    expect((await browser.open(await browser.walk(left, 'ada', 'accept', createCookieJar()))).heading).toBe(
      shown.heading,
    );
  });

  test.each([
    ['without the token of its form', { csrf: '' }, {}],
    ['from another site', {}, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ])('takes no decision %s', async (_what, fields, headers) => {
    const { browser, path, read, shown } = await asked();
    const own = shown.forms.get('approve')?.fields ?? {};
    for (const action of ['approve', 'deny'])
      expect((await browser.post(`${path}/${action}`, { ...own, ...fields }, { headers })).heading).toBe(
        SAYS.refused,
      );
    expect((await read()).status).toBe('pending');
  });

  test('is not there without a sign-in at Parley, nor for a question', async () => {
    const identity = createBoundIdentity('https://app.example/who');
    const bound = await world({ identity, deps: { linksApprovals: false } });
    const { row } = await requestApproval(bound.engine, STREAM);
    const browser = createTestBrowser(bound);
    const path = `/auth/answer/${row.id}`;
    expect((await browser.open(path)).heading).toBe(SAYS.notFound);
    for (const action of ['approve', 'deny', 'sign-in'])
      expect((await browser.post(`${path}/${action}`, {})).heading).toBe(SAYS.notFound);
    const { browser: owner, question, asked: form, here } = await entered();
    const { csrf = '' } = question.forms.get('accept')?.fields ?? {};
    expect((await owner.post(`${form.path}/approve`, { csrf })).heading).toBe(SAYS.notFound);
    expect(await here.status(form.id)).toBe('pending');
  });
});
