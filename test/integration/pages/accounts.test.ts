import { createGuardedFetch } from '@parley/shared/net/guarded-fetch';
import { describe, expect, test } from 'vitest';
import { createApiKeyConnector } from '../../../services/api/src/accounts/connectors/api-key.ts';
import { disconnectAll } from '../../../services/api/src/accounts/disconnect.ts';
import { createBoundIdentity } from '../../../services/api/src/pages/identity/bound.ts';
import { createTestBrowser, SAYS, type TestBrowser } from '../../harness/pages/browser.ts';
import { ADA, TOKEN_SECRET } from '../../harness/pages/setup.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { userToken } from '../../harness/tokens.ts';
import { pagesSuite, type WorldOptions } from './suite.ts';

const { redis, world: start } = pagesSuite();

const BOB = { ...ADA, userId: 'bob' };
const ISSUES = { toolId: 'issues', connectorId: 'tracker' };

/** A tracker that ada and bob have connected, and notes that nobody has. */
async function world(more: WorldOptions = {}) {
  const notes = createApiKeyConnector({ id: 'notes-key' }, { guardedFetch: createGuardedFetch() });
  const here = await start({ services: () => ({ notes }), ...more });
  for (const owner of [ADA, BOB])
    await here.vault.save({ ...owner, ...ISSUES }, { kind: 'oauth2', accessToken: 'a', tokenType: 'Bearer' });
  return here;
}

async function call(publicUrl: string, owner: typeof ADA, method: 'GET' | 'DELETE', path: string) {
  const token = await userToken({ secret: TOKEN_SECRET, ...owner });
  const response = await fetch(`${publicUrl}/v1/accounts${path}`, {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test('a person sees which services are connected, and nothing of a credential', async () => {
  const here = await world();
  const connected = { toolId: 'issues', service: 'Service issues', state: 'connected' };
  const other = { toolId: 'notes', service: 'Service notes', state: 'not_connected' };
  const connectedAt = expect.stringMatching(/^\d{4}-/);
  expect(await call(here.publicUrl, ADA, 'GET', '')).toEqual({
    status: 200,
    body: { accounts: [{ ...connected, connectedAt }, other] },
  });
  const version = (await here.held())?.version ?? 0;
  await here.vault.markReconnect({ ...ADA, ...ISSUES }, version);
  expect((await call(here.publicUrl, ADA, 'GET', '')).body).toMatchObject({
    accounts: [{ state: 'reconnect_required' }, other],
  });
});

test("disconnecting deletes and revokes one's own credential only, once", async () => {
  const here = await world();
  expect(await call(here.publicUrl, ADA, 'DELETE', '/issues')).toEqual({
    status: 200,
    body: { toolId: 'issues', revoked: 'revoked' },
  });
  expect(here.tracker.revocations()).toBe(1);
  expect(await here.held()).toBeUndefined();
  expect(await here.held('issues', BOB)).toBeDefined();
  expect(here.events.at(-1)).toEqual({
    type: 'disconnected',
    ...ISSUES,
    tenant: ADA.tenant,
    revoked: 'revoked',
  });
  expect(await call(here.publicUrl, ADA, 'DELETE', '/issues')).toEqual({
    status: 200,
    body: { toolId: 'issues' },
  });
  expect(here.tracker.revocations()).toBe(1);
});

describe('disconnecting everything of a person', () => {
  type World = Awaited<ReturnType<typeof world>>;

  const disconnectAllOf = ({ backend, deps }: World, owner: typeof ADA) =>
    disconnectAll({ ...deps, store: backend.vault }, owner);

  /** Leaves the credentials as a version before the lists did. */
  async function unlist(): Promise<void> {
    const lists = (await redisCommand(redis().port, 'KEYS', '*:credential-list:*')) as string[];
    expect(lists).toHaveLength(2);
    await redisCommand(redis().port, 'DEL', ...lists);
  }

  test('revokes and deletes a credential that an earlier version stored in no list', async () => {
    const here = await world();
    await unlist();
    expect(await disconnectAllOf(here, ADA)).toBe(1);
    expect(here.tracker.revocations()).toBe(1);
    expect(await here.held()).toBeUndefined();
    expect(await here.held('issues', BOB)).toBeDefined();
    expect(await disconnectAllOf(here, ADA)).toBe(0);
  });

  test('deletes what a scan has listed of a service that is no longer configured', async () => {
    const here = await world();
    const gone = { ...ADA, toolId: 'gone', connectorId: 'gone-key' };
    const staged = { ...gone, flowId: 'flow' };
    await here.vault.save(gone, { kind: 'api_key', value: 'k' });
    await here.vault.stage(staged, { kind: 'api_key', value: 's' }, 60_000);
    await unlist();
    for await (const _ of here.backend.vault.scan());
    expect(await here.backend.vault.listOf(ADA)).toEqual({
      credentials: expect.arrayContaining([{ ...ADA, ...ISSUES }, gone]),
      staged: [staged],
    });
    expect(await disconnectAllOf(here, ADA)).toBe(3);
    expect(await here.backend.vault.listOf(ADA)).toEqual({ credentials: [], staged: [] });
    expect([await here.vault.read(gone), await here.vault.staged(staged)]).toEqual([undefined, undefined]);
    expect(await disconnectAllOf(here, ADA)).toBe(0);
  });

  test('clears the list of a credential that is stored no more', async () => {
    const here = await world();
    const [name = ''] = (await redisCommand(redis().port, 'KEYS', '*:credential:acme/ada/*')) as string[];
    await redisCommand(redis().port, 'DEL', name);
    await disconnectAllOf(here, ADA);
    expect(await here.backend.vault.listOf(ADA)).toEqual({ credentials: [], staged: [] });
  });
});

describe('the page of a person', () => {
  const PAGE = '/auth/accounts';
  const EMPTY = 'You have not connected any account.';

  /** A browser whose person is signed in and sees their accounts. */
  async function entered(here: Awaited<ReturnType<typeof world>>, user: string) {
    const browser = createTestBrowser(here);
    return { browser, shown: await browser.enter(PAGE, user) };
  }

  const ask = (browser: TestBrowser) => browser.open(`${PAGE}/issues/disconnect`);

  test('asks who it is, and shows the accounts of that person', async () => {
    const here = await world();
    await here.vault.save(
      { ...ADA, ...ISSUES },
      {
        kind: 'oauth2',
        accessToken: 'token-a',
        refreshToken: 'token-b',
        tokenType: 'Bearer',
        scope: 'read write',
      },
    );
    const browser = createTestBrowser(here);
    const outside = await browser.open(PAGE);
    expect([outside.status, outside.heading]).toEqual([200, SAYS.signIn]);
    expect(outside.html).not.toContain('Service issues');
    const shown = await browser.enter(PAGE, 'ada');
    expect([shown.status, shown.heading]).toEqual([200, 'Your connected accounts']);
    for (const said of ['Service issues', 'ada', '>read<', '>write<', 'Renewed automatically'])
      expect(shown.html).toContain(said);
    for (const unsaid of ['Service notes', 'token-a', 'token-b', '<script'])
      expect(shown.html).not.toContain(unsaid);
    expect(shown.hops.join()).not.toContain('ada');
    expect(shown.headers.get('cache-control')).toBe('no-store');
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('disconnects after a confirmation, as the call does, and once', async () => {
    const here = await world();
    const { browser } = await entered(here, 'ada');
    const confirm = await ask(browser);
    expect(confirm.heading).toBe('Disconnect Service issues?');
    expect(await here.held()).toBeDefined();
    const done = await browser.submit(confirm, 'disconnect');
    expect([done.status, done.heading]).toEqual([200, 'Service issues is disconnected']);
    expect(await here.held()).toBeUndefined();
    expect(await here.held('issues', BOB)).toBeDefined();
    expect(here.tracker.revocations()).toBe(1);
    const event = { type: 'disconnected', ...ISSUES, tenant: ADA.tenant, revoked: 'revoked' };
    expect(here.events.at(-1)).toEqual(event);

    const again = await browser.submit(confirm, 'disconnect');
    expect([again.status, again.html]).toEqual([200, expect.stringContaining('No access to')]);
    expect(here.tracker.revocations()).toBe(1);
    expect((await ask(browser)).html).toContain('No access to');
    expect((await browser.open(PAGE)).html).toContain(EMPTY);
  });

  test('shows and disconnects nothing of another person', async () => {
    const here = await world();
    await here.vault.remove({ ...BOB, ...ISSUES });
    const [{ browser: adas }, { browser: bobs, shown }] = [
      await entered(here, 'ada'),
      await entered(here, 'bob'),
    ];
    expect(shown.html).toContain(EMPTY);
    const confirm = await ask(adas);
    const form = confirm.forms.get('disconnect');
    // The form of one browser is no form of another.
    const stolen = await bobs.post(form?.action ?? '', form?.fields ?? {});
    expect([stolen.status, stolen.heading]).toEqual([403, SAYS.refused]);
    expect((await ask(bobs)).html).toContain('No access to');
    expect(await here.held()).toBeDefined();
    expect(here.tracker.revocations()).toBe(0);
  });

  test('takes no form without a session, nor after signing out', async () => {
    const here = await world();
    const { browser, shown } = await entered(here, 'ada');
    const { action = '', fields = {} } = (await ask(browser)).forms.get('disconnect') ?? {};
    expect((await createTestBrowser(here).post(action, fields)).heading).toBe(SAYS.refused);
    expect((await browser.submit(shown, 'sign-out')).heading).toBe(SAYS.signIn);
    expect((await browser.open(PAGE)).heading).toBe(SAYS.signIn);
    expect((await browser.post(action, fields)).status).toBe(403);
    expect(await here.held()).toBeDefined();
  });

  test('says so for a service that does not exist, as the call does', async () => {
    const here = await world();
    const { browser } = await entered(here, 'ada');
    for (const path of [`${PAGE}/unknown/disconnect`, `${PAGE}/__proto__/disconnect`, `${PAGE}/issues`])
      expect(await browser.open(path)).toMatchObject({ status: 404, heading: SAYS.notFound });
    for (const path of ['/unknown', '/__proto__', '/..%2Fissues'])
      expect(await call(here.publicUrl, ADA, 'DELETE', path)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    expect(await here.held()).toBeDefined();
  });

  test('exists only where people sign in', async () => {
    const here = await world({ identity: createBoundIdentity('https://app.example/bind') });
    for (const path of [PAGE, `${PAGE}/issues/disconnect`])
      expect(await createTestBrowser(here).open(path)).toMatchObject({
        status: 404,
        heading: 'Accounts are not shown here',
      });
  });
});
