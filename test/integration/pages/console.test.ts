import { describe, expect, test } from 'vitest';
import { createTestBrowser } from '../../harness/pages/browser.ts';
import {
  type ConsoleWorldOptions,
  callsOf,
  signedInOperator,
  startConsoleWorld,
} from '../../harness/pages/console.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { pagesSuite } from './suite.ts';

const suite = pagesSuite();
const ROLES = {
  ada: ['operator', 'reader'],
  vera: ['acme:viewer', 'acme:unknown', 'elsewhere:operator'],
  olga: { globex: 'operator', acme: ['viewer'] },
  rita: ['acme:reader'],
  nobody: ['admin'],
};
const world = (options: Partial<ConsoleWorldOptions> = {}) =>
  startConsoleWorld({ redisUrl: suite.redis().url, roles: ROLES, ...options });
const LIST = '/v1/admin/elicitations';
const COOKIE = /parley-console=([\w-]{43})/;
const inTenant = (tenant: string) => ({ 'parley-tenant': tenant });

async function asked({ engine }: Awaited<ReturnType<typeof world>>, tenant = 'acme') {
  const input = { userId: 'alice', mode: 'form', message: 'Which colour?', timeoutSeconds: 600 } as const;
  const schema = { type: 'object', properties: { colour: { type: 'string' } } } as const;
  const { row } = await engine.ask({ tenant, input: { ...input, requestedSchema: schema } });
  return row.id;
}

describe('operators who sign in at the provider', () => {
  test('come back to the place they wanted, on every pod, with the roles of the claim', async () => {
    const here = await world();
    const { shown, session } = await signedInOperator(here, 'ada', '/console/turns/t1?userId=alice');
    expect(shown.hops.at(-1)).toBe('/console/turns/t1?userId=alice');
    const both = ['operator', 'reader'];
    expect(session).toMatchObject({
      name: 'ada',
      title: 'Acme agents',
      tenants: [
        { tenant: 'acme', roles: both },
        { tenant: 'globex', roles: both },
      ],
    });
    expect(here.sessions).toEqual([{ change: 'signed-in', operator: 'ada', tenants: ['acme', 'globex'] }]);
  });

  test.each(['https://evil.example/', '//evil.example', '/auth/accounts', '/consolex', '/console/\\evil'])(
    'are led into the console, and not to %s',
    async (to) => {
      const { shown } = await signedInOperator(await world(), 'ada', to);
      expect(shown.hops.at(-1)).toBe('/console');
    },
  );

  test('begin anew where their sign-in has lapsed', async () => {
    const shown = await createTestBrowser(await world()).open('/console/signed-in?state=AAAA');
    expect(shown.status).toBe(400);
    expect(shown.html).toContain('href="/console"');
  });

  test('do not enter without a role, and are told so', async () => {
    const here = await world();
    const browser = createTestBrowser(here);
    const shown = await browser.enter('/console/sign-in', 'nobody');
    expect([shown.status, shown.heading]).toEqual([403, 'You have no role here']);
    expect((await callsOf(here, browser).send('GET', '/console/session')).status).toBe(401);
    expect(here.sessions).toEqual([{ change: 'no-role', operator: 'nobody', tenants: [] }]);
  });

  test.each([
    // Who, in which tenant: may list, may read what was written, may change.
    ['ada', 'acme', [200, true, 200]],
    ['vera', 'acme', [200, false, 403]],
    ['vera', 'globex', [403, false, 403]],
    ['olga', 'acme', [200, false, 403]],
    ['olga', 'globex', [200, false, 200]],
    ['rita', 'acme', [200, true, 403]],
    ['rita', 'elsewhere', [403, false, 403]],
  ])('%s may in %s what the roles there allow', async (user, tenant, expected) => {
    const here = await world();
    const id = await asked(here, tenant);
    const { send, session } = await signedInOperator(here, user);
    const list = await send('GET', LIST, inTenant(tenant));
    const content = JSON.stringify(list.json).includes('Which colour?');
    const headers = { ...inTenant(tenant), 'parley-csrf': session.csrf };
    const change = await send('DELETE', `${LIST}/${id}`, headers);
    expect([list.status, content, change.status]).toEqual(expected);
    expect(here.acts.map(({ act, subject, operator }) => [act, subject, operator])).toEqual(
      change.status === 200 ? [['withdraw', id, user]] : [],
    );
  });
});

test.each([
  ['ada', [201, 200, 200]],
  ['vera', [403, 403, 403]],
  ['rita', [403, 403, 403]],
])('%s makes and revokes an answer link, and erases a person, as the roles allow', async (user, expected) => {
  const here = await world();
  const id = await asked(here);
  const { send, session } = await signedInOperator(here, user);
  const steps = [
    ['POST', `/v1/elicitations/${id}/answer-link`],
    ['DELETE', `/v1/elicitations/${id}/answer-link`],
    ['DELETE', '/v1/users/alice'],
  ] as const;
  const replies = [];
  for (const [method, path] of steps) {
    // Neither a session without its token nor a key that may only operate can do it.
    expect((await send(method, path, inTenant('acme'))).status).toBe(403);
    expect((await send(method, path, here.bearer)).status).toBe(403);
    replies.push(await send(method, path, { ...inTenant('acme'), 'parley-csrf': session.csrf }));
  }
  expect(replies.map(({ status }) => status)).toEqual(expected);
  const [link, revoked, erased] = replies.map(({ json }) => json);
  const isAllowed = user === 'ada';
  expect(here.acts.map(({ act, subject, operator }) => [act, subject, operator])).toEqual(
    isAllowed
      ? [
          ['link', id, user],
          ['revoke_link', id, user],
          ['erase', 'alice', user],
        ]
      : [],
  );
  expect(here.events).toEqual([]);
  const { records } = await here.backend.records.readMany([id]);
  expect(records.length > 0 && records[0] !== undefined).toBe(!isAllowed);
  if (!isAllowed) return;
  expect(link).toMatchObject({ url: expect.stringContaining(`/auth/answer/${id}#`) });
  expect([revoked, erased]).toMatchObject([{ revoked: true }, { complete: true, erased: { withdrawn: 1 } }]);
});

test.each([
  [true, 'vera', 200],
  [false, 'vera', 403],
  [false, 'ada', 403],
])('where there is one tenant (%s), %s reads what runs: %i', async (hasOneTenant, user, status) => {
  const { send } = await signedInOperator(await world({ hasOneTenant }), user);
  expect((await send('GET', '/v1/admin/installation', inTenant('acme'))).status).toBe(status);
});

describe('the session of an operator', () => {
  test('ends with the sign-out, on every pod, also where a pod renews its use a moment later', async () => {
    const here = await world();
    const { send, session, browser } = await signedInOperator(here, 'ada');
    const cookie = browser.jar.header(here.publicUrl);
    const out = await send('POST', '/console/sign-out', { 'parley-csrf': session.csrf });
    expect(out.status).toBe(204);
    const [, id = ''] = COOKIE.exec(cookie) ?? [];
    await here.backend.pages.put({ family: 'operator-seen', id }, '', 60_000);
    for (let at = 0; at < 6; at += 1)
      expect((await send('GET', LIST, { ...inTenant('acme'), cookie })).status).toBe(401);
    expect(here.sessions.at(-1)).toMatchObject({ change: 'signed-out', operator: 'ada' });
  });

  test.each([
    ['its absolute end, however much it is used', { sessionMs: 800, idleMs: 60_000 }],
    ['a time without a request', { sessionMs: 60_000, idleMs: 400 }],
  ])('ends at %s', async (_what, times) => {
    const here = await world(times);
    const { send } = await signedInOperator(here, 'ada');
    const isIdle = times.idleMs < times.sessionMs;
    // The store's own clock ends it: a use of an idle session would renew it.
    const ended = async () =>
      isIdle
        ? (await suite.dump()).every((line) => !line.includes('connect-operator-seen'))
        : (await send('GET', '/console/session')).status === 401;
    await waitUntil(ended, { what: 'the end of the session' });
    expect((await send('GET', '/console/session')).status).toBe(401);
  });

  test('ends for a person who is erased in any of their tenants', async () => {
    const here = await world();
    const { send } = await signedInOperator(here, 'ada');
    expect(await here.backend.pages.dropOf({ tenant: 'globex', userId: 'ada' })).toBe(1);
    expect((await send('GET', '/console/session')).status).toBe(401);
    expect((await suite.dump()).join()).not.toContain('"ada"');
  });

  test('is not in Redis by the id in the cookie', async () => {
    const here = await world();
    const { browser } = await signedInOperator(here, 'ada');
    const [, id = ''] = COOKIE.exec(browser.jar.header(here.publicUrl)) ?? [];
    expect(id).not.toBe('');
    expect((await suite.dump()).join()).not.toContain(id);
  });
});

test('in development the typed name is believed and has every role', async () => {
  const here = await startConsoleWorld({ redisUrl: suite.redis().url });
  const { session, send } = await signedInOperator(here, 'me');
  expect(session.tenants).toEqual(
    ['acme', 'globex'].map((tenant) => ({ tenant, roles: ['viewer', 'operator', 'reader'] })),
  );
  expect((await send('GET', LIST, inTenant('acme'))).status).toBe(200);
});

test('a key goes in without a session, and its token is not lent anything by a cookie', async () => {
  const here = await world();
  const { send } = await signedInOperator(here, 'vera');
  const withKey = (path: string) => send('GET', path, { ...here.bearer, 'sec-fetch-site': 'cross-site' });
  expect((await withKey(LIST)).status).toBe(200);
  const wrong = { authorization: 'Bearer wrong-wrong-wrong', ...inTenant('acme') };
  expect((await send('GET', LIST, wrong)).status).toBe(401);
});
