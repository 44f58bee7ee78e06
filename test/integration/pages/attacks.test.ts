import type { ApprovalDefinition } from '@parley/core/domain/approvals/definition';
import { describe, expect, test } from 'vitest';
import { createCookieJar } from '../../../stand-ins/authorization-server/walk.ts';
import { decideAs, requestApproval } from '../../harness/engines/approvals.ts';
import { createTestBrowser, SAYS, UNKNOWN_IDS } from '../../harness/pages/browser.ts';
import { tampered } from '../../harness/pages/connectors-setup.ts';
import { ADA, type World } from '../../harness/pages/setup.ts';
import { askAboutSeat } from './seat-question.ts';
import { pagesSuite } from './suite.ts';

const { world, begun, back } = pagesSuite();

describe('another person with the link', () => {
  test('sees nothing, can do nothing, and the question stays open for its owner [MCP25-51 MCP25-66 MCP25-67 MCP25-68 MCP26-38 MCP26-53 MCP26-54 MCP26-55 ACP-48]', async () => {
    const here = await world();
    const { path, id } = await here.ask();
    const mallory = createTestBrowser(here);
    const shown = await mallory.enter(path, 'bob');
    expect([shown.status, shown.heading]).toEqual([403, SAYS.mismatch]);
    expect(here.events).toMatchObject([{ type: 'mismatch', elicitationId: id, tenant: ADA.tenant }]);
    const again = await mallory.open(path);
    expect(again.heading).toBe(SAYS.mismatch);
    for (const hidden of ['ada', 'Helper', 'Service', 'Please connect.', here.tracker.issuer])
      expect(again.html).not.toContain(hidden);
    // The token of a page of their own does not open this one's doors.
    const csrf = again.forms.get('sign-out')?.fields.csrf ?? '';
    for (const door of ['start', 'secret', 'decline']) {
      const refused = await mallory.post(`${path}/${door}`, { csrf, secret: 'x' });
      expect([refused.status, refused.heading]).toEqual([403, SAYS.mismatch]);
    }
    expect(await here.status(id)).toBe('pending');
    expect(await here.held()).toBeUndefined();
    expect(await here.held('issues', { ...ADA, userId: 'bob' })).toBeUndefined();
    const ada = createTestBrowser(here);
    const done = await ada.connect(await ada.enter(path, 'ada'));
    expect(done.heading).toBe(SAYS.connected());
  });

  test('can sign in as the owner, and has to sign in again for that', async () => {
    const here = await world();
    const { path } = await here.ask();
    const browser = createTestBrowser(here);
    const mismatch = await browser.enter(path, 'bob');
    const out = await browser.submit(mismatch, 'sign-out');
    expect(out.heading).toBe(SAYS.signIn);
    const left = await browser.submit(out, 'sign-in');
    expect(new URL(left.link ?? '').searchParams.get('prompt')).toBe('login');
    const consent = await browser.open(await browser.walk(left, 'ada', 'accept', createCookieJar()));
    expect(consent.forms.has('start')).toBe(true);
  });

  test('with the address of an ended question does not see whose it was', async () => {
    const { here, browser, consent, path } = await begun();
    await browser.connect(consent);
    const stranger = await createTestBrowser(here).open(path);
    for (const hidden of ['ada', 'Helper', 'Service']) expect(stranger.html).not.toContain(hidden);
    expect((await createTestBrowser(here).enter(path, 'bob')).html).not.toContain('Service');
  });

  test('finds nothing under an id that is none', async () => {
    const browser = createTestBrowser(await world());
    for (const path of UNKNOWN_IDS.flatMap((id) => [`/auth/connect/${id}`, `/auth/answer/${id}`]))
      expect([path, await browser.open(path)]).toMatchObject([path, { status: 404, heading: SAYS.notFound }]);
  });

  test('finds no page for a question with its own url', async () => {
    const here = await world();
    const { row } = await here.engine.ask({
      tenant: ADA.tenant,
      input: {
        userId: 'ada',
        mode: 'url',
        message: '?',
        url: 'https://pages.example/own',
        completion: 'server',
        context: { trigger: 'agent', toolId: 'issues' },
        timeoutSeconds: 600,
      },
    });
    const shown = await createTestBrowser(here).enter(`/auth/connect/${row.id}`, 'ada');
    expect(shown.heading).toBe(SAYS.notFound);
  });
});

describe('a callback of the provider', () => {
  test('in another browser than the one that began gives nothing, and still works in the right browser [SEC-11]', async () => {
    const { here, browser, callback, id } = await back();
    const { path: other } = await here.ask();
    for (const user of ['bob', 'ada', undefined]) {
      const elsewhere = createTestBrowser(here);
      if (user !== undefined) await elsewhere.enter(other, user);
      const shown = await elsewhere.open(callback);
      expect(shown.heading).toBe(SAYS.failed('bad_state'));
      expect(shown.html).not.toContain(id);
    }
    expect(await here.status(id)).toBe('opened');
    expect(await here.held()).toBeUndefined();
    expect(here.tracker.tokenCalls('authorization_code')).toBe(0);
    expect((await browser.open(callback)).heading).toBe(SAYS.connected());
  });

  test('that was changed on its way leaves the question open', async () => {
    const { here, browser, callback, id, path } = await back();
    const { origin, pathname, search } = new URL(callback);
    const changes: readonly [string, Parameters<typeof SAYS.failed>[0]][] = [
      [`${callback}&state=A`, 'bad_state'],
      [`${origin}${pathname.replace('/tracker', '/other')}${search}`, 'bad_state'],
      [tampered(callback, 'state', 'A'.repeat(43)), 'bad_state'],
      [tampered(callback, 'state', undefined), 'bad_state'],
    ];
    for (const [changed, reason] of changes) {
      expect((await browser.open(changed)).heading, changed).toBe(SAYS.failed(reason));
      expect(here.events.at(-1)).toMatchObject({ type: 'failed', code: reason });
    }
    // Each of these uses up its attempt.
    for (const [name, value, reason] of [
      ['iss', 'https://evil.example', 'bad_issuer'],
      ['iss', undefined, 'bad_issuer'],
      ['code', 'A'.repeat(43), 'provider_error'],
    ] as const) {
      const left = await browser.submit(await browser.open(path), 'start');
      const again = tampered(await browser.walk(left, 'ada-at-tracker'), name, value);
      expect((await browser.open(again)).heading, again).toBe(SAYS.failed(reason));
      expect(here.events.at(-1)).toMatchObject({ type: 'failed', code: reason });
    }
    expect(await here.status(id)).toBe('opened');
    expect(await here.held()).toBeUndefined();
    expect((await browser.open(callback)).heading).toBe(SAYS.connected());
  });

  test('after signing out is refused', async () => {
    const { here, browser, callback, path, id } = await back();
    const page = await browser.open(path);
    const csrf = page.forms.get('start')?.fields.csrf ?? '';
    await browser.post(`/auth/sign-out?elicitationId=${id}`, { csrf });
    expect((await browser.open(callback)).heading).toBe(SAYS.failed('bad_state'));
    expect(await here.status(id)).toBe('opened');
  });
});

describe('a sign-in', () => {
  async function leaving(here: Awaited<ReturnType<typeof world>>) {
    const { path, id } = await here.ask();
    const browser = createTestBrowser(here);
    const left = await browser.submit(await browser.open(path), 'sign-in');
    return { browser, path, id, callback: await browser.walk(left, 'ada') };
  }

  test('in another browser than the one that began is refused', async () => {
    const here = await world();
    const { callback, path, browser } = await leaving(here);
    const victim = createTestBrowser(here);
    await victim.open(path);
    const shown = await victim.open(callback);
    expect(shown.heading).toBe(SAYS.failed('sign-in'));
    expect((await victim.open(path)).heading).toBe(SAYS.signIn);
    expect((await browser.open(callback)).forms.has('start')).toBe(true);
  });

  test('that was changed on its way is refused', async () => {
    const here = await world();
    for (const [name, value] of [
      ['state', 'A'.repeat(43)],
      ['iss', 'https://evil.example'],
      ['iss', undefined],
      ['code', 'A'.repeat(43)],
    ] as const) {
      const { callback, path, browser } = await leaving(here);
      expect((await browser.open(tampered(callback, name, value))).heading).toBe(SAYS.failed('sign-in'));
      expect((await browser.open(path)).heading).toBe(SAYS.signIn);
      expect(here.events.at(-1)).toMatchObject({ type: 'failed', code: 'sign_in' });
    }
  });

  test('gives the browser a new session id, and the old one is invalid', async () => {
    const here = await world();
    const { callback, path, browser } = await leaving(here);
    const planted = browser.jar.header(`${here.publicUrl}/`);
    const consent = await browser.open(callback);
    const token = (cookie: string) => /parley-connect=([\w-]{43})/.exec(cookie)?.[1];
    expect(token(browser.jar.header(`${here.publicUrl}/`))).not.toBe(token(planted));
    const response = await fetch(here.publicUrl + path, { headers: { cookie: planted } });
    expect(await response.text()).toContain(SAYS.signIn);
    expect(consent.forms.has('start')).toBe(true);
  });

  test('ends the one before it', async () => {
    const here = await world({ identity: 'typed' });
    const { path } = await here.ask();
    const browser = createTestBrowser(here);
    const { forms } = await browser.enter(path, 'bob');
    const before = browser.jar.header(`${here.publicUrl}/`);
    const csrf = forms.get('sign-out')?.fields.csrf ?? '';
    expect((await browser.post(`${path}/sign-in`, { csrf, user: 'ada' })).forms.has('start')).toBe(true);
    const response = await fetch(here.publicUrl + path, { headers: { cookie: before } });
    expect(await response.text()).toContain(`${path}/sign-in`);
  });

  test('that is repeated is refused', async () => {
    const here = await world();
    const { callback, path, browser } = await leaving(here);
    const shown = await browser.open(callback);
    const again = await browser.open(callback);
    expect(again.hops).toEqual([path]);
    expect(again.heading).toBe(shown.heading);
    const elsewhere = createTestBrowser(here);
    expect((await elsewhere.open(callback)).heading).toBe(SAYS.signIn);
  });
});

describe('the inbox', () => {
  const INBOX = '/auth/inbox';
  const STREAM = { ...ADA, streamRequestId: 'run 1' };
  const FORM = { type: 'object', properties: { seat: { type: 'string' } } } as const;

  async function entered() {
    const here = await world({ identity: 'typed' });
    const browser = createTestBrowser(here);
    return { here, browser, open: () => browser.enter(INBOX, 'ada') };
  }

  /** Ada has approved a call for its whole conversation. */
  async function remembered(here: World, more: Partial<ApprovalDefinition> = {}) {
    const { row } = await requestApproval(here.engine, STREAM, more);
    await decideAs(here.engine, STREAM, row.id, { decision: 'approve', remember: true });
  }

  test.each([
    ['without the token of its form', { csrf: '' }, {}],
    ['from another site', {}, { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ])('a form of it changes nothing %s', async (_what, fields, headers) => {
    const { here, browser, open } = await entered();
    await remembered(here);
    const shown = await open();
    for (const form of ['forget', 'sign-out']) {
      const own = shown.forms.get(form);
      const refused = await browser.post(own?.action ?? '', { ...own?.fields, ...fields }, { headers });
      expect([refused.status, refused.heading]).toEqual([403, SAYS.refused]);
    }
    expect(await here.engine.approvals.grants.list(ADA)).toHaveLength(1);
    expect((await browser.open(INBOX)).heading).toBe(shown.heading);
  });

  test('texts of agents and servers are shown as text, and nothing of them stands in an address or a log', async () => {
    const { here, open } = await entered();
    const hostile = '"><script>alert(1)</script>';
    const context = { trigger: 'agent', agent: hostile };
    await askAboutSeat(here, { requestedSchema: FORM }, { message: hostile, title: hostile, context });
    const tool = { server: 's', serverTitle: hostile, name: hostile, title: hostile };
    await remembered(here, { agent: hostile, tool });
    await requestApproval(here.engine, STREAM, { agent: hostile, tool, rule: 'other' });
    const { html, headers, hops } = await open();
    expect(html.match(/&quot;&gt;&lt;script&gt;alert\(1\)&lt;\/script&gt;/gu)?.length).toBeGreaterThan(8);
    expect(html.match(/<script/gu)).toHaveLength(1);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'.*frame-ancestors 'none'/u);
    expect(headers.get('x-frame-options')).toBe('DENY');
    for (const text of [...hops, ...here.lines]) expect(text).not.toContain('alert(1)');
  });
});
