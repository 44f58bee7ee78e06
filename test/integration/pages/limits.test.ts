import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';
import type { Caller } from '@parley/shared/domain/caller';
import { createMemoryLimits } from '@parley/shared/memory/limits';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createBoundIdentity } from '../../../services/api/src/pages/identity/bound.ts';
import { createAttempts } from '../../../services/api/src/pages/serving/attempts.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { createTestBrowser, SAYS, type TestBrowser } from '../../harness/pages/browser.ts';
import { ADA, type World } from '../../harness/pages/setup.ts';
import { startWorld as startNangoWorld } from '../connectors/nango-setup.ts';
import { pagesSuite } from './suite.ts';

const { world, begun } = pagesSuite();
afterEach(() => void vi.useRealTimers());

/** Ways back from the sign-in that say that the person refused there, each good once and in this browser. */
async function refusals(here: World, browser: TestBrowser, count: number): Promise<string[]> {
  const { path } = await here.ask();
  const ways: string[] = [];
  while (ways.length < count) {
    const left = await browser.submit(await browser.open(path), 'sign-in');
    const state = new URL(left.link ?? '').searchParams.get('state') ?? '';
    const said = new URLSearchParams({ state, error: 'access_denied', iss: here.company?.issuer ?? '' });
    ways.push(`/auth/signed-in?${said}`);
  }
  return ways;
}

describe('a person with many failed attempts', () => {
  test('has to wait on every pod', async () => {
    const { here, browser, consent, path } = await begun({ deps: { failuresMax: 3 } });
    const other = createTestBrowser(here);
    const [last = '', ...ways] = await refusals(here, other, 4);
    for (const way of ways) expect((await other.open(way)).heading).toBe(SAYS.failed('sign-in'));
    const blocked = await other.open(last);
    expect([blocked.status, blocked.heading]).toEqual([429, SAYS.tooMany]);
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(500);
    for (let count = 0; count < 4; count += 1)
      expect((await browser.submit(consent, 'start')).heading).toBe(SAYS.tooMany);
    expect((await browser.open(path)).status).toBe(200);
    expect(here.events.filter(({ type }) => type === 'failed')).toHaveLength(4);
  });

  test('who opens the links of others has to wait as well', async () => {
    const here = await world({ identity: 'typed', deps: { failuresMax: 2 } });
    const { path } = await here.ask();
    const browser = createTestBrowser(here);
    expect((await browser.enter(path, 'bob')).heading).toBe(SAYS.mismatch);
    const csrf = (await browser.open(path)).forms.get('sign-out')?.fields.csrf ?? '';
    expect((await browser.post(`${path}/start`, { csrf })).heading).toBe(SAYS.mismatch);
    expect((await browser.post(`${path}/start`, { csrf })).heading).toBe(SAYS.tooMany);
    expect((await createTestBrowser(here).enter(path, 'ada')).heading).toBe(SAYS.tooMany);
  });

  test('is counted by the address that the last trusted proxy saw', async () => {
    const here = await world({ deps: { failuresMax: 1, proxyHops: 1 } });
    const browser = createTestBrowser(here);
    const ways = await refusals(here, browser, 9);
    const from = async (address: string) => {
      const cookie = browser.jar.header(here.publicUrl);
      const headers = { cookie, 'x-forwarded-for': `1.2.3.4, ${address}` };
      return (await fetch(here.publicUrl + ways.pop(), { headers })).status;
    };
    expect(await from('192.0.2.1')).toBe(400);
    expect(await from('192.0.2.1')).toBe(429);
    expect(await from('192.0.2.2')).toBe(400);
    expect(await from('2001:db8:0:1::1')).toBe(400);
    expect(await from('2001:db8:0:1:ffff::9')).toBe(429);
    // Some proxies add the port of the connection.
    expect(await from('192.0.2.3:5001')).toBe(400);
    expect(await from('192.0.2.3:5002')).toBe(429);
    expect(await from('[2001:db8:0:2::1]:443')).toBe(400);
    expect(await from('"[2001:db8:0:2::2]"')).toBe(429);
  });

  test('is not affected by requests that other sites cause: with unknown states, or states of another browser', async () => {
    const here = await world({ deps: { failuresMax: 2 } });
    const stranger = createTestBrowser(here);
    const ofAnother = await refusals(here, stranger, 2);
    const browser = createTestBrowser(here);
    for (const way of [...ofAnother, ...Array(6).fill('/auth/signed-in?state=AAAA'), '/auth/signed-in'])
      expect((await browser.open(way)).heading).toBe(SAYS.failed('sign-in'));
    const { path } = await here.ask();
    expect((await browser.enter(path, 'ada')).forms.has('start')).toBe(true);
  });

  test('waits by the clock of the store, whatever the clock of a pod', async () => {
    const { deps } = await world();
    const attempts = createAttempts({ ...deps, failuresMax: 0 });
    const retryInSeconds = await attempts.failed('192.0.2.1');
    expect(retryInSeconds).toBeGreaterThan(500);
    for (const hours of [-3, 3]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
      expect(await attempts.blocked('192.0.2.1')).toBe(retryInSeconds);
      vi.useRealTimers();
    }
    expect(await attempts.blocked('192.0.2.2')).toBeUndefined();
  });
});

describe('a person who sends forms', () => {
  test('may send a limited number in all, and pages are still shown', async () => {
    // One was for the sign-in.
    const { browser, consent, path, here, id } = await begun({ deps: { postsMax: 3 } });
    expect((await browser.submit(consent, 'start')).link).toBeDefined();
    expect((await browser.submit(consent, 'start')).link).toBeDefined();
    const blocked = await browser.submit(consent, 'decline');
    expect([blocked.status, blocked.heading]).toEqual([429, SAYS.tooMany]);
    expect(Number(blocked.headers.get('retry-after'))).toBeGreaterThan(0);
    const other = createTestBrowser(here);
    expect((await other.submit(await other.open(path), 'sign-in')).heading).toBe(SAYS.tooMany);
    expect((await browser.open(path)).forms.has('start')).toBe(true);
    expect(await here.status(id)).toBe('opened');
  });

  test('is not affected by forms that other sites send', async () => {
    const { browser, consent, path } = await begun({ deps: { postsMax: 2 } });
    for (let count = 0; count < 4; count += 1)
      expect((await browser.post(`${path}/start`, { csrf: 'A'.repeat(43) })).heading).toBe(SAYS.refused);
    expect((await browser.submit(consent, 'start')).link).toBeDefined();
  });

  test.each(['start', 'decline'] as const)(
    'to %s uses the same limit as an answer over /v1, and has to wait when it is used up',
    async (door) => {
      const { taken, callLimits } = budgets();
      const { browser, consent, here, id } = await begun({ deps: { callLimits } });
      taken.max = 2;
      await browser.submit(consent, 'start');
      expect(taken.names).toEqual([`call ${ADA.userId}`, `answer ${ADA.userId} ${id}`]);
      const blocked = await browser.submit(consent, door);
      expect([blocked.status, blocked.heading]).toEqual([429, SAYS.tooMany]);
      expect(blocked.headers.get('retry-after')).toBe('7');
      expect(await here.status(id)).toBe('opened');
    },
  );

  test('and is not signed in does not use up the owner’s limit', async () => {
    const { taken, callLimits } = budgets();
    const here = await world({
      identity: createBoundIdentity('https://app.example.com'),
      deps: { callLimits },
    });
    const { path, id } = await here.ask();
    const browser = createTestBrowser(here);
    const consent = await browser.open(path);
    taken.max = 1;
    expect((await browser.submit(consent, 'start')).link).toBeDefined();
    expect((await browser.submit(consent, 'start')).heading).toBe(SAYS.tooMany);
    expect(taken.names).toHaveLength(1);
    expect(taken.names[0]).toMatch(/^answer /);
    expect(taken.names[0]).not.toContain(ADA.userId);
    expect(taken.names[0]).toContain(id);
  });
});

test('a page that reloads itself uses the same limit', async () => {
  const { nango, connector } = await startNangoWorld({ id: 'desk' });
  nango.loseWebhooks(true);
  const { taken, callLimits } = budgets();
  const here = await world({ services: () => ({ desk: connector }), deps: { callLimits } });
  const { path } = await here.ask({ toolId: 'desk' });
  const browser = createTestBrowser(here);
  await browser.submit(await browser.enter(path, 'ada'), 'start');
  taken.max = taken.names.length + 2;
  expect((await browser.open(`${path}/waiting`)).heading).toBe(SAYS.waiting);
  expect((await browser.open(`${path}/waiting`)).heading).toBe(SAYS.tooMany);
});

/** Budgets that note what is taken, and hold `max` in all. */
function budgets() {
  const taken = { max: 100, names: [] as string[] };
  const take = async (name: string) => {
    if (taken.names.length >= taken.max)
      throw new ParleyError('rate_limited', 'Wait.', { retryAfterSeconds: 7 });
    taken.names.push(name);
  };
  const callLimits = {
    ...callLimitsOn(createMemoryLimits()),
    call: (caller: Caller) => take(`call ${caller.kind === 'user' ? caller.userId : ''}`),
    answer: ({ userId }: Owner, id: string) => take(`answer ${userId} ${id}`),
  };
  return { taken, callLimits };
}
