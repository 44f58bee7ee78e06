import { describe, expect, test } from 'vitest';
import { createTestBrowser, SAYS } from '../../harness/pages/browser.ts';
import { ADA, SCOPES } from '../../harness/pages/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { discovering, startGuardedTracker } from '../connectors/mcp-oauth-setup.ts';
import { pagesSuite } from './suite.ts';

const { world, begun, back, dump } = pagesSuite();

describe('a person who opens the link of their question', () => {
  test('signs in, agrees, and has connected the service', async () => {
    const here = await world();
    const { path, id } = await here.ask();
    const browser = createTestBrowser(here);
    const consent = await browser.enter(path, 'ada');
    expect(consent.heading).toBe('Connect Service issues');
    expect(consent.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    for (const said of ['Helper', 'Please connect.', 'ada', ...SCOPES]) expect(consent.html).toContain(said);
    expect(consent.html).toContain(new URL(here.tracker.issuer).host);
    expect(await here.status(id)).toBe('pending');

    const left = await browser.submit(consent, 'start');
    expect(new URL(left.link ?? '').origin).toBe(here.tracker.issuer);
    expect(await here.status(id)).toBe('opened');

    const done = await browser.open(await browser.walk(left, 'ada-at-tracker'));
    expect(done.status).toBe(200);
    expect(done.heading).toBe(SAYS.connected());
    expect(done.html).toContain('href="/auth/accounts"');
    expect(await here.status(id)).toBe('accepted');
    const held = await here.held();
    expect(held?.state).toBe('usable');
    expect(held?.credential.reveal()).toMatchObject({ kind: 'oauth2', scope: SCOPES.join(' ') });
    expect(here.events).toMatchObject([{ type: 'completed', elicitationId: id, kept: false }]);
    expect((await browser.open(path)).heading).toBe(SAYS.connected());
  });

  test('never reads words of an unnamed asker as those of the service to connect', async () => {
    const here = await world();
    const { path } = await here.ask({ agent: null });
    const { html } = await createTestBrowser(here).enter(path, 'ada');
    expect(html).toContain('The service behind this chat wrote');
    expect(html).not.toMatch(/<bdi class="name">Service issues<\/bdi> (?:wrote|asks)/u);
  });

  test('can notify the waiting page', async () => {
    const tell = 'https://app.example.com';
    const { browser, consent, id } = await begun({ deps: { notifyOrigins: [tell] } });
    expect(consent.headers.get('cross-origin-opener-policy')).toBe('unsafe-none');
    const done = await browser.connect(consent);
    expect(done.html).toContain(tell);
    expect(done.html).toContain(id);
  });

  test('can decline, and nothing is connected', async () => {
    const { here, browser, consent, id, path } = await begun();
    expect((await browser.submit(consent, 'decline')).heading).toBe(SAYS.declined);
    expect(await here.status(id)).toBe('declined');
    expect((await here.backend.elicitations.read(id)).row?.settlement?.surface).toBe('connect');
    expect(await here.held()).toBeUndefined();
    expect(here.events).toMatchObject([{ type: 'declined', elicitationId: id }]);
    expect((await browser.submit(consent, 'start')).heading).toBe(SAYS.declined);
    expect((await browser.open(path)).heading).toBe(SAYS.declined);
  });
});

describe('one connection', () => {
  test('settles every open question for the account as accepted, and no other question', async () => {
    const other = { ...ADA, userId: 'bob' };
    const { here, browser, consent, path } = await begun();
    const same = [await here.ask(), await here.ask()];
    const others = [await here.ask({ toolId: 'notes' }), await here.ask({ owner: other })];
    const outcomes = same.map(({ id }) =>
      here.engine.wait({ caller: { kind: 'service', tenant: ADA.tenant }, id, timeoutMs: 30_000 }),
    );
    await browser.connect(consent);
    for (const { row } of await Promise.all(outcomes))
      expect(row).toMatchObject({ status: 'accepted', settlement: { surface: 'connect' } });
    expect(await Promise.all(others.map(({ id }) => here.status(id)))).toEqual(['pending', 'pending']);
    for (const each of [path, ...same.map((one) => one.path)])
      expect((await browser.open(each)).heading).toBe(SAYS.connected());
    expect(here.tracker.tokenCalls('authorization_code')).toBe(1);
  });
});

describe('a provider that refuses', () => {
  test('leaves the question open when the user refuses there, and the user can try again', async () => {
    const { here, browser, consent, id } = await begun();
    const left = await browser.submit(consent, 'start');
    const failed = await browser.open(await browser.walk(left, 'ada-at-tracker', 'refuse'));
    expect(failed.heading).toBe(SAYS.failed('consent_refused'));
    expect(await here.status(id)).toBe('opened');
    expect(here.events).toMatchObject([{ type: 'failed', code: 'consent_refused', elicitationId: id }]);
    // A user who asks for help gives the reference on the page, which is in the log.
    const { requestId } = JSON.parse(here.lines.at(-1) ?? '{}') as { requestId?: string };
    expect(failed.html).toContain(requestId);
    const again = await browser.open(failed.link ?? '');
    const done = await browser.connect(again);
    expect(done.heading).toBe(SAYS.connected());
  });

  test.each([
    ['authorization', 'temporarily_unavailable'],
    ['token', 'invalid_request'],
  ] as const)('leaves the question open when its %s endpoint fails', async (at, error) => {
    const { here, browser, consent, id } = await begun();
    const left = await browser.submit(consent, 'start');
    if (at === 'token') here.tracker.misbehave({ at, status: 400, error });
    else here.tracker.misbehave({ at, error, status: 302 });
    const failed = await browser.open(await browser.walk(left, 'ada-at-tracker'));
    expect(failed.heading).toBe(SAYS.failed('provider_error'));
    expect(failed.html).toContain(error);
    expect(await here.status(id)).toBe('opened');
    expect(await here.held()).toBeUndefined();
  });

  test('is not redirected to when it is unavailable', async () => {
    const here = await world();
    here.tracker.misbehave({ at: 'discovery', status: 503 });
    const { path, id } = await here.ask();
    const browser = createTestBrowser(here);
    const consent = await browser.enter(path, 'ada');
    const failed = await browser.submit(consent, 'start');
    expect(failed.heading).toBe(SAYS.failed('unavailable'));
    expect(failed.link).toBe(path);
    expect(await here.status(id)).toBe('opened');
  });
});

describe('a callback that is repeated', () => {
  test('changes nothing and shows the completed page', async () => {
    const { here, browser, callback } = await back();
    await browser.open(callback);
    const held = await here.held();
    expect((await browser.open(callback)).heading).toBe(SAYS.connected());
    expect((await here.held())?.version).toBe(held?.version);
    expect(here.tracker.reusedFamilies()).toEqual([]);
    expect(here.tracker.tokenCalls('authorization_code')).toBe(1);
  });

  test('changes nothing when the first failed', async () => {
    const { here, browser, consent, id, path } = await begun();
    const callback = await browser.walk(await browser.submit(consent, 'start'), 'ada-at-tracker', 'refuse');
    await browser.open(callback);
    const again = await browser.open(callback);
    expect(again.heading).toBe(SAYS.failed('bad_state'));
    expect(again.link).toBe(path);
    expect(await here.status(id)).toBe('opened');
  });
});

describe('a question that ends while the person is at the provider', () => {
  test('by its deadline alone: the page says so before the outcome is recorded', async () => {
    const here = await world();
    const { path, id } = await here.ask({ timeoutSeconds: 1 });
    const browser = createTestBrowser(here);
    const isOver = async () => (await browser.open(path)).heading === SAYS.expired;
    await waitUntil(isOver, { what: 'the page to say so' });
    expect(await here.status(id)).toBe('pending');
  });

  test.each([
    ['decline', SAYS.declined],
    ['cancel', SAYS.settled],
  ] as const)('by %s at the last moment: the credential is revoked and dropped', async (action, heading) => {
    let atLast: () => Promise<unknown> = async () => undefined;
    const { here, browser, callback, id } = await back({
      wrap: (connector) => ({
        ...connector,
        async finish(input, keep) {
          const result = await connector.finish(input, keep);
          await atLast();
          return result;
        },
      }),
    });
    const caller = { kind: 'user', ...ADA } as const;
    atLast = () => here.engine.answer({ caller, id, response: { action }, surface: 'chat' });
    expect((await browser.open(callback)).heading).toBe(heading);
    expect(await here.held()).toBeUndefined();
    expect(await here.staged()).toBe(0);
    expect(here.tracker.revocations()).toBeGreaterThan(0);
    expect(here.events).toMatchObject([{ type: 'failed', code: 'dropped' }]);
  });
});

describe('a service whose authorization server is discovered', () => {
  test('is connected over both pods, with the scopes of the question, and its client is sealed', async () => {
    const { serverUrl, authorization } = await startGuardedTracker({ users: ['ada'] });
    const here = await world({
      services: (publicUrl) => ({
        desk: discovering({ id: 'desk', serverUrl, redirectUri: `${publicUrl}/auth/callback/desk` }),
      }),
    });
    const { path, id } = await here.ask({ toolId: 'desk', requiredScope: 'issues:read issues:write' });
    const browser = createTestBrowser(here);
    const consent = await browser.enter(path, 'ada');
    for (const said of [new URL(authorization.issuer).host, 'issues:read', 'issues:write'])
      expect(consent.html).toContain(said);
    const left = await browser.submit(consent, 'start');
    const underway = await dump();
    const done = await browser.open(await browser.walk(left, 'ada'));
    expect(done.heading).toBe(SAYS.connected('desk'));
    expect(await here.status(id)).toBe('accepted');
    const credential = (await here.held('desk'))?.credential.reveal();
    if (credential?.kind !== 'oauth2') throw new Error('expected tokens');
    expect(credential.grantor).toMatchObject({ issuer: authorization.issuer, resource: serverUrl });
    expect(credential.scope).toContain('issues:write');
    const secret = credential.grantor?.clientSecret ?? '';
    expect(secret).not.toBe('');
    for (const kept of [...underway, ...(await dump()), ...here.lines]) {
      expect(kept).not.toContain(secret);
      expect(kept).not.toContain(credential.accessToken);
    }
  });

  test('publishes what its authorization server may know of Parley, and nothing of others', async () => {
    const here = await world({
      services: (publicUrl) => ({
        desk: discovering({
          id: 'desk',
          redirectUri: `${publicUrl}/auth/callback/desk`,
          metadataUrl: `${publicUrl}/auth/client-metadata/desk`,
        }),
      }),
    });
    const metadata = `${here.publicUrl}/auth/client-metadata`;
    const reply = await fetch(`${metadata}/desk`);
    expect(reply.status).toBe(200);
    expect(await reply.json()).toMatchObject({
      client_id: `${metadata}/desk`,
      redirect_uris: [`${here.publicUrl}/auth/callback/desk`],
    });
    for (const other of ['tracker', 'nobody', '%00'])
      expect((await fetch(`${metadata}/${other}`)).status).toBe(404);
    expect((await fetch(`${metadata}/desk`, { method: 'POST' })).status).toBe(404);
  });
});
