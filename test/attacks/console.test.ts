import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestBrowser, SAYS } from '../harness/pages/browser.ts';
import {
  type ConsoleWorldOptions,
  callsOf,
  signedInOperator,
  startConsoleWorld,
} from '../harness/pages/console.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../harness/redis/redis-server.ts';

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ args: ['--appendonly', 'no'] });
});
afterAll(() => redis.stop());
beforeEach(() => redisCommand(redis.port, 'FLUSHALL'));

const ROLES = { ada: ['operator', 'reader'], olga: { globex: 'operator', acme: ['viewer'] } };
const world = (options: Partial<ConsoleWorldOptions> = {}) =>
  startConsoleWorld({ redisUrl: redis.url, roles: ROLES, ...options });
const LIST = '/v1/admin/elicitations';
const inTenant = (tenant: string) => ({ 'parley-tenant': tenant });

async function asked({ engine }: Awaited<ReturnType<typeof world>>) {
  const input = { userId: 'alice', mode: 'form', message: 'Which colour?', timeoutSeconds: 600 } as const;
  const requestedSchema = { type: 'object', properties: { colour: { type: 'string' } } } as const;
  const { row } = await engine.ask({ tenant: 'acme', input: { ...input, requestedSchema } });
  return row.id;
}

describe('nobody enters', () => {
  test('by a session that was planted before the sign-in', async () => {
    const here = await world();
    const browser = createTestBrowser(here);
    const planted = 'A'.repeat(43);
    browser.jar.store(here.publicUrl, [`parley-console=${planted}; Path=/`]);
    await browser.enter('/console/sign-in', 'ada');
    expect(browser.jar.header(here.publicUrl)).not.toContain(planted);
    const thief = { cookie: `parley-console=${planted}`, ...inTenant('acme') };
    expect((await callsOf(here, createTestBrowser(here)).send('GET', LIST, thief)).status).toBe(401);
  });

  test('by the return of a sign-in that another browser began', async () => {
    const here = await world();
    const [own, other] = [createTestBrowser(here), createTestBrowser(here)];
    const left = await own.submit(await own.open('/console/sign-in'), 'sign-in');
    const back = await own.walk(left, 'ada');
    await other.open('/console/sign-in');
    const refused = await other.open(back);
    expect(refused.heading).toBe(SAYS.failed('sign-in'));
    expect(refused.html).toContain('href="/console"');
    expect((await callsOf(here, other).send('GET', '/console/session')).status).toBe(401);
    expect((await own.open(back)).hops.at(-1)).toBe('/console');
  });

  test('by a form of another site', async () => {
    const here = await world();
    const browser = createTestBrowser(here);
    const shown = await browser.open('/console/sign-in');
    const form = shown.forms.get('sign-in');
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const sent = await browser.post(form?.action ?? '', form?.fields ?? {}, { headers });
    expect(sent.heading).toBe(SAYS.refused);
  });

  test('by the cookie from a page of another origin, reads included', async () => {
    const here = await world();
    const { send, session } = await signedInOperator(here, 'ada');
    const own = { ...inTenant('acme'), 'parley-csrf': session.csrf };
    for (const headers of [
      { ...own, 'sec-fetch-site': 'cross-site' },
      { ...own, 'sec-fetch-site': 'same-site' },
      { ...own, 'sec-fetch-site': 'none' },
      { ...own, origin: 'https://page.example' },
      { ...own, origin: 'null' },
    ]) {
      for (const path of [LIST, '/console/session']) {
        const reply = await send('GET', path, headers);
        expect([headers, path, reply.status]).toEqual([headers, path, 403]);
        expect(reply.headers.has('access-control-allow-credentials')).toBe(false);
      }
    }
    // Another origin cannot add this header without a preflight, which does not allow it.
    expect((await send('GET', LIST)).status).toBe(403);
    const preflight = await send('OPTIONS', LIST, {
      origin: 'https://page.example',
      'access-control-request-headers': 'parley-tenant',
    });
    expect(preflight.headers.get('access-control-allow-headers')).not.toContain('parley-');
  });

  test('with a change by another token than that of the session', async () => {
    const here = await world();
    const id = await asked(here);
    const [ada, olga] = [await signedInOperator(here, 'ada'), await signedInOperator(here, 'olga')];
    for (const csrf of [undefined, '', 'wrong', olga.session.csrf]) {
      const headers = { ...inTenant('acme'), ...(csrf !== undefined && { 'parley-csrf': csrf }) };
      expect((await ada.send('DELETE', `${LIST}/${id}`, headers)).status).toBe(403);
      expect((await ada.send('POST', '/console/sign-out', headers)).status).toBe(403);
    }
    const own = { ...inTenant('acme'), 'parley-csrf': ada.session.csrf };
    expect((await ada.send('DELETE', `${LIST}/${id}`, own)).status).toBe(200);
  });
});

test('a viewer reads what is to be delivered, and delivers nothing again', async () => {
  const here = await world();
  const id = await asked(here);
  const olga = await signedInOperator(here, 'olga');
  const own = { ...inTenant('acme'), 'parley-csrf': olga.session.csrf };
  expect((await olga.send('GET', '/v1/admin/deliveries', own)).status).toBe(200);
  for (const path of [`${LIST}/${id}`, '/v1/admin/approvals/ap_x', '/v1/admin/turns/sr_x'])
    expect((await olga.send('POST', `${path}/redeliver?userId=alice`, own)).status).toBe(403);
  expect((await olga.send('GET', '/v1/admin/deliveries', inTenant('initech'))).status).toBe(403);
  // For an operator only the body is missing.
  const ada = await signedInOperator(here, 'ada');
  const hers = { ...own, 'parley-csrf': ada.session.csrf };
  expect((await ada.send('POST', `${LIST}/${id}/redeliver`, hers)).status).toBe(400);
});

test('an operator has one budget for the pages of lists, over all pods', async () => {
  const here = await world({ operatorCalls: 5 });
  const [ada, olga] = [await signedInOperator(here, 'ada'), await signedInOperator(here, 'olga')];
  const statuses: number[] = [];
  for (let at = 0; at < 7; at += 1) statuses.push((await ada.send('GET', LIST, inTenant('acme'))).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect((await olga.send('GET', LIST, inTenant('acme'))).status).toBe(200);
});

test('an address from which too many sign-ins fail is blocked, on all pods', async () => {
  const here = await world({ failuresMax: 3 });
  const browser = createTestBrowser(here);
  const headings: string[] = [];
  for (let at = 0; at < 5; at += 1) {
    const left = await browser.submit(await browser.open('/console/sign-in'), 'sign-in');
    const state = new URL(left.link ?? '').searchParams.get('state') ?? '';
    const back = `/console/signed-in?${new URLSearchParams({ state, code: 'wrong' })}`;
    headings.push((await browser.open(back)).heading);
    if (headings.includes(SAYS.tooMany)) break;
  }
  const failed = SAYS.failed('sign-in');
  expect(headings).toEqual([failed, failed, failed, SAYS.tooMany]);
  expect((await browser.submit(await browser.open('/console/sign-in'), 'sign-in')).heading).toBe(
    SAYS.tooMany,
  );
});

test.each(['/console', '/console/sign-in', '/console/session', '/console/assets/x.js', '/console/signed-in'])(
  'nothing of the console is framed, guessed or kept: %s',
  async (path) => {
    const here = await world();
    const { headers } = await callsOf(here, createTestBrowser(here)).send('GET', path);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    const isPage = headers.get('content-type')?.startsWith('text/html') === true;
    if (isPage) {
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
    }
  },
);
