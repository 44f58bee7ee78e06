import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { ANSWER_COOKIE } from '../../../services/api/src/pages/answer/page-routes.ts';
import {
  type BrowserCookie,
  createBrowserCookie,
  mintBrowserId,
} from '../../../services/api/src/pages/serving/browser.ts';
import { canary, findCanary } from '../../harness/canary.ts';
import { createTestBrowser, SAYS, type Shown, type TestBrowser } from '../../harness/pages/browser.ts';
import { ADA, type World } from '../../harness/pages/setup.ts';
import { infoFields, redisCommand } from '../../harness/redis/redis-command.ts';
import { askAboutSeat, issueLink } from './seat-question.ts';
import { pagesSuite } from './suite.ts';

const { redis, world, begun, back, dump } = pagesSuite();

/** The forms of each kind of page, before Ada: where they are, and the token that they need. */
const PAGES: Readonly<
  Record<string, (here: World, browser: TestBrowser) => Promise<{ actions: string[]; shown: Shown }>>
> = {
  async connect(here, browser) {
    const { path, id } = await here.ask();
    const doors = ['start', 'secret', 'decline', 'sign-in'].map((door) => `${path}/${door}`);
    const actions = [...doors, `/auth/sign-out?elicitationId=${id}`];
    return { actions, shown: await browser.enter(path, 'ada') };
  },
  async 'answer by its owner'(here, browser) {
    const { path } = await askAboutSeat(here, { requestedSchema: SEAT, onAnswerPage: true });
    return { actions: [`${path}/signed-in/accept`], shown: await browser.enter(path, 'ada') };
  },
  async 'answer by a link'(here, browser) {
    const { id, path } = await askAboutSeat(here, { requestedSchema: SEAT });
    const { token } = await issueLink(here, id);
    return {
      actions: [`${path}/accept`],
      shown: await browser.submit(await browser.open(path), 'open', { token }),
    };
  },
  async accounts(here, browser) {
    await here.vault.save(
      { ...ADA, toolId: 'issues', connectorId: 'tracker' },
      { kind: 'oauth2', accessToken: 'a', tokenType: 'Bearer' },
    );
    await browser.enter('/auth/accounts', 'ada');
    const path = '/auth/accounts/issues/disconnect';
    return { actions: [path, '/auth/accounts/sign-out'], shown: await browser.open(path) };
  },
};
const SEAT = { type: 'object', properties: { seat: { type: 'string' } } } as const;

const csrfOf = ({ forms }: Shown) => [...forms.values()][0]?.fields.csrf ?? '';

describe.each(Object.keys(PAGES))('a form of the page: %s', (name) => {
  async function opened() {
    const here = await world();
    const browser = createTestBrowser(here);
    const page = PAGES[name];
    if (page === undefined) throw new Error(name);
    const { actions, shown } = await page(here, browser);
    const csrf = csrfOf(shown);
    // Of a page of the same kind, as another browser is shown it.
    const other = csrfOf(await createTestBrowser(here).enter('/auth/accounts', 'ada'));
    expect([csrf.length, other.length]).toEqual([43, 43]);
    const before = await dump();
    return {
      csrf,
      other,
      async isRefused(fields: Record<string, string>, headers: Record<string, string | undefined> = {}) {
        for (const action of actions) {
          const refused = await browser.post(action, { secret: 'x', 'field-0': 'x', ...fields }, { headers });
          expect([action, refused.status, refused.heading]).toEqual([action, 403, SAYS.refused]);
          expect(refused.headers.getSetCookie()).toEqual([]);
        }
      },
      async nothingChanged() {
        expect(await dump()).toEqual(before);
      },
    };
  }

  test('is refused without its token, and with that of another browser [SEC-08]', async () => {
    const { other, isRefused, nothingChanged } = await opened();
    for (const fields of [{}, { csrf: '' }, { csrf: 'A'.repeat(43) }, { csrf: other }])
      await isRefused(fields);
    await nothingChanged();
  });

  test('is refused from elsewhere, token or not', async () => {
    const { csrf, isRefused, nothingChanged } = await opened();
    const origins: Record<string, string | undefined>[] = [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      // An old browser.
      { origin: 'https://evil.example', 'sec-fetch-site': undefined },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: 'null' },
      // A neighbour.
      { 'sec-fetch-site': 'same-site' },
      { origin: undefined, 'sec-fetch-site': 'cross-site' },
      { origin: undefined, 'sec-fetch-site': undefined },
      { origin: 'http://127.0.0.1:1', 'sec-fetch-site': undefined },
      { 'content-type': 'text/plain' },
    ];
    for (const headers of origins) await isRefused({ csrf }, headers);
    await nothingChanged();
  });
});

describe('a form', () => {
  test('that is too large is refused', async () => {
    const { browser, consent, path, here, id } = await begun();
    const shown = await browser.post(`${path}/decline`, { csrf: csrfOf(consent), more: 'x'.repeat(20_000) });
    expect(shown.heading).toBe(SAYS.refused);
    expect(await here.status(id)).toBe('pending');
  });

  test('is accepted from a browser that sends fewer headers, if they name our origin', async () => {
    const { browser, consent, path, here, id } = await begun();
    const headers = { 'sec-fetch-site': undefined };
    const shown = await browser.post(`${path}/decline`, { csrf: csrfOf(consent) }, { headers });
    expect(shown.heading).toBe(SAYS.declined);
    expect(await here.status(id)).toBe('declined');
  });
});

/** Sends a request target as it is, which `fetch` would not. */
function requested(origin: string, path: string): Promise<{ status: number | undefined; location?: string }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const sent = request({ hostname, port, path }, (response) => {
      response.resume();
      const { statusCode: status, headers } = response;
      resolve({ status, ...(headers.location !== undefined && { location: headers.location }) });
    });
    sent.once('error', reject).end();
  });
}

describe('addresses', () => {
  const EVIL = [
    ...['//evil.example', '\\\\evil.example', '/\\evil.example', '@evil.example', 'https://evil.example'],
    ...['%0d%0aLocation:%20https://evil.example', '%2f%2fevil.example', '%5cevil.example', '..%2f..%2f'],
  ];

  test('lead to our own pages only', async () => {
    const here = await world();
    const { id, path } = await here.ask();
    for (const evil of EVIL) {
      const targets = [
        `/auth/connect?elicitationId=${evil}`,
        `/auth/connect?elicitationId=${id}${evil}`,
        `/auth/connect?elicitationId=${id}&elicitationId=${evil}`,
        `/auth/connect?elicitationId=${id}&returnUrl=${evil}&next=${evil}`,
        `/auth/connect/${encodeURIComponent(evil)}`,
        `${path}?returnUrl=${evil}`,
        `/auth/signed-in?state=${evil}&returnUrl=${evil}`,
        `/auth/callback/tracker?state=${evil}&redirect_uri=${evil}`,
        `/auth/callback/${encodeURIComponent(evil)}?state=x`,
      ];
      for (const target of targets) {
        const response = await fetch(here.publicUrl + target, { redirect: 'manual' });
        const location = response.headers.get('location');
        if (location !== null) expect([target, location]).toEqual([target, path]);
        expect(await response.text()).not.toContain('evil.example');
      }
    }
  });

  test('are matched literally, without decoding or resolving', async () => {
    const here = await world();
    const { id } = await here.ask();
    for (const target of [
      `//evil.example/auth/connect/${id}`,
      `http://evil.example/auth/connect/${id}`,
      `/auth/connect//${id}`,
      `/auth/connect/${id}/`,
      `/auth/connect/./${id}`,
      `/auth/%63onnect/${id}`,
      `/AUTH/connect/${id}`,
      `/auth/connect/..;/${id}`,
    ]) {
      const got = await requested(here.publicUrl, target);
      expect([target, got.status, got.location]).toEqual([target, 404, undefined]);
    }
  });

  test('that are not routes are not found', async () => {
    const here = await world();
    for (const [method, path] of [
      ['GET', '/auth'],
      ['GET', '/auth/'],
      ['GET', '/auth/complete'],
      ['DELETE', '/auth/connect'],
      ['HEAD', '/auth/signed-in'],
      ['HEAD', '/auth/callback/tracker'],
      ['POST', '/auth/callback/tracker'],
      ['POST', '/auth/webhooks/tracker'],
      ['POST', '/auth/webhooks/none'],
    ] as const) {
      expect([path, (await fetch(here.publicUrl + path, { method })).status]).toEqual([path, 404]);
    }
  });
});

describe('the cookie', () => {
  const cookie = createBrowserCookie({ https: true });
  const requestWith = (text: string) => ({ headers: { cookie: text }, url: '/auth/accounts' });
  const id = mintBrowserId();
  const answerCookie = createBrowserCookie({ https: true }, ANSWER_COOKIE);
  const setCookie = ({ headers }: BrowserCookie, url: string) =>
    headers(id, { headers: {}, url })[0]?.split('; ') ?? [];

  test('is limited to this host and https, and not readable by scripts [SEC-09]', () => {
    const [pair, ...attributes] = setCookie(cookie, '/auth/accounts');
    expect(pair).toBe(`__Host-parley-connect=${id}`);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=3600', 'Path=/', 'SameSite=Lax', 'Secure']);
  });

  test.each([
    ['/auth/answer/el_07T3fMv7Qx2LrK8sYbWnHc4D/open', true],
    ['/auth/answer/el_07T3fMv7Qx2LrK8sYbWnHc4D?sign-in', true],
    ['/auth/answer/el_0;Domain=example.com', false],
    ['/auth/answer', false],
  ])('of an answer link is that of its question, and no sibling host can set it: %s', (url, isOfQuestion) => {
    const [pair = '', ...attributes] = setCookie(answerCookie, url);
    expect(pair).toMatch(isOfQuestion ? /^__Host-parley-answer-[\w-]{16}=/ : /^__Host-parley-answer=/);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=90000', 'Path=/', 'SameSite=Lax', 'Secure']);
  });

  test('of an answer link removes the oldest of too many others, so that requests stay small', () => {
    const others = Array.from(
      { length: 31 },
      (_, at) => `__Host-parley-answer-${String(at).padStart(16, '0')}`,
    );
    const url = '/auth/answer/el_07T3fMv7Qx2LrK8sYbWnHc4D';
    const sent = ['__Host-parley-connect', ...others].map((name) => `${name}=${id}`).join('; ');
    const [, ...removed] = answerCookie.headers(id, { headers: { cookie: sent }, url });
    expect(removed.map((one) => one.split('; ')[0])).toEqual([`${others[0]}=`, `${others[1]}=`]);
    for (const one of removed) expect(one).toMatch(/^__Host-[^;]+=; Path=\/; .*Secure; Max-Age=0$/);
  });

  test('omits the attributes that need https, in development', async () => {
    const here = await world();
    const { path } = await here.ask();
    const response = await fetch(here.publicUrl + path);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^parley-connect=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600$/),
    ]);
  });

  test('is recognised by its exact value only', () => {
    const read = (text: string) => cookie.read(requestWith(text));
    expect(read(`a=b; __Host-parley-connect=${id}; c=d`)).toEqual({ id, isNew: false });
    for (const text of [
      '',
      `parley-connect=${id}`,
      `__Host-parley-connect=${id}; __Host-parley-connect=${mintBrowserId()}`,
      `__Host-parley-connect=${id}x`,
      '__Host-parley-connect=',
      `__Host-parley-connect="${id}"`,
    ]) {
      const { id: other, isNew } = read(text);
      expect([text, isNew, other.length, other === id]).toEqual([text, true, 43, false]);
    }
  });
});

test('a GET of any page writes nothing [SEC-12]', async () => {
  const { here, browser, path, consent, id } = await begun();
  const stranger = createTestBrowser(here);
  const seat = await askAboutSeat(here, { requestedSchema: SEAT, onAnswerPage: true });
  expect(await writesDuring(() => browser.submit(consent, 'start'))).not.toEqual([]);
  const looks = async () => {
    for (const shown of [await browser.open(path), await stranger.open(path)]) expect(shown.status).toBe(200);
    await browser.open(`/auth/connect?elicitationId=${id}`);
    const headers = { cookie: browser.jar.header(here.publicUrl) };
    expect((await fetch(here.publicUrl + path, { method: 'HEAD', headers })).status).toBe(200);
    await createTestBrowser(here).open('/auth/connect/x');
    for (const one of [browser, stranger]) expect((await one.open(seat.path)).status).toBe(200);
  };
  expect(await writesDuring(looks)).toEqual([]);
});

/** The kinds of commands that wrote to Redis in the meantime, those of scripts included. */
async function writesDuring(run: () => Promise<unknown>): Promise<string[]> {
  await redisCommand(redis().port, 'CONFIG', 'RESETSTAT');
  await run();
  const stats = infoFields(await redisCommand(redis().port, 'INFO', 'commandstats'));
  const called = Object.keys(stats).flatMap((name) => /^cmdstat_(\w+)$/.exec(name)?.[1] ?? []);
  const flags = (await redisCommand(redis().port, 'COMMAND', 'INFO', ...called)) as [
    string,
    number,
    string[],
  ][];
  // A script is recognised by what it calls.
  return flags.flatMap(([name, , allowed]) =>
    allowed.includes('write') && !name.startsWith('eval') ? [name] : [],
  );
}

test('no code, token or key is in a log, a page, a URL of ours, or unsealed in Redis [MCP25-35 MCP25-50 MCP26-23 MCP26-37 ACP-39]', async () => {
  const texts: string[] = [];
  const { here, browser, callback, path } = await back();
  const { searchParams } = new URL(callback);
  const secrets = [searchParams.get('code') ?? '', searchParams.get('state') ?? ''];
  texts.push(...(await dump()));
  const shown = [await browser.open(callback), await browser.open(callback), await browser.open(path)];
  const held = await here.held();
  const credential = held?.credential.reveal();
  if (credential?.kind !== 'oauth2') throw new Error('no tokens');
  secrets.push(credential.accessToken, credential.refreshToken ?? '');
  secrets.push(/parley-connect=([\w-]{43})/.exec(browser.jar.header(here.publicUrl))?.[1] ?? '');
  texts.push(...(await dump()), ...here.lines);
  for (const { html, headers, hops } of shown) texts.push(html, String(headers.get('location')), ...hops);
  expect(texts.length).toBeGreaterThan(5);
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(20);
    expect(findCanary(secret, texts)).toEqual([]);
  }
  const marker = canary('query');
  const failed = await browser.open(`/auth/callback/tracker?state=${marker}&error=${marker}&code=${marker}`);
  expect(findCanary(marker, [failed.html, ...here.lines, ...(await dump())])).toEqual([]);
});
