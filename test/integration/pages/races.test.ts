import { describe, expect, test } from 'vitest';
import type { Connector } from '../../../services/api/src/accounts/connector.ts';
import { createTestBrowser, SAYS } from '../../harness/pages/browser.ts';
import { ADA } from '../../harness/pages/setup.ts';
import { pagesSuite } from './suite.ts';

const { world } = pagesSuite();

const SERVICE = { kind: 'service', tenant: ADA.tenant } as const;

/** A provider that takes its time: `inBetween` happens after it gave a credential, before that reaches the pages. */
function slow() {
  const late: { inBetween?: (() => Promise<unknown>) | undefined } = {};
  const wrap = (connector: Connector): Connector => ({
    ...connector,
    async finish(input, keep) {
      const result = await connector.finish(input, keep);
      const { inBetween } = late;
      late.inBetween = undefined;
      await inBetween?.();
      return result;
    },
  });
  return { late, wrap };
}

/** Ada in two tabs, both back from the provider. */
async function twoTabs() {
  const { late, wrap } = slow();
  const here = await world({ wrap });
  const { path, id } = await here.ask();
  const browser = createTestBrowser(here);
  const tabs = [await browser.enter(path, 'ada'), await browser.open(path)];
  const callbacks: string[] = [];
  for (const tab of tabs)
    callbacks.push(await browser.walk(await browser.submit(tab, 'start'), 'ada-at-tracker'));
  const [first = '', second = ''] = callbacks;
  return { here, late, browser, path, id, first, second };
}

describe('a tab that is overtaken while its provider is slow', () => {
  test('keeps the credential of the faster one, and revokes nothing at the provider', async () => {
    const { here, late, browser, first, second } = await twoTabs();
    let before: Awaited<ReturnType<typeof here.held>>;
    late.inBetween = async () => {
      expect((await browser.open(second)).heading).toBe(SAYS.connected());
      before = await here.held();
    };
    expect((await browser.open(first)).heading).toBe(SAYS.connected());
    expect((await here.held())?.version).toBe(before?.version);
    expect((await here.held())?.credential.reveal()).toEqual(before?.credential.reveal());
    expect(here.tracker.tokenCalls('authorization_code')).toBe(2);
    expect(here.tracker.revocations()).toBe(0);
    expect(here.events.filter(({ type }) => type === 'completed')).toHaveLength(1);
    expect(await here.staged()).toBe(0);
  });

  test('does the same when the question was withdrawn before either was done', async () => {
    const { here, late, browser, id, first, second } = await twoTabs();
    let version: number | undefined;
    late.inBetween = async () => {
      await here.engine.withdraw({ caller: SERVICE, id, reason: 'run_stopped' });
      await browser.open(second);
      version = (await here.held())?.version;
    };
    expect((await browser.open(first)).html).toContain('used the next time');
    expect(version).toBeDefined();
    expect((await here.held())?.version).toBe(version);
    expect(await here.staged()).toBe(0);
  });
});

describe('a question that a service ends by itself while the person is at the provider', () => {
  test('is not shown as connected, because nothing is connected', async () => {
    const { here, browser, path, id, first } = await twoTabs();
    await here.engine.complete({ caller: SERVICE, id, surface: 'api' });
    expect((await browser.open(first)).heading).toBe(SAYS.settled);
    expect((await browser.open(path)).heading).toBe(SAYS.settled);
    expect(await here.held()).toBeUndefined();
    expect(here.tracker.tokenCalls('authorization_code')).toBe(0);
  });

  test('at the last moment has its credential revoked', async () => {
    const { here, late, browser, id, first } = await twoTabs();
    late.inBetween = () => here.engine.complete({ caller: SERVICE, id, surface: 'api' });
    expect((await browser.open(first)).heading).toBe(SAYS.settled);
    expect(await here.held()).toBeUndefined();
    expect(here.tracker.revocations()).toBe(1);
    expect(await here.staged()).toBe(0);
  });

  test('is connected where the person already was', async () => {
    const { here, late, browser, path, id, first } = await twoTabs();
    await here.vault.save(
      { ...ADA, toolId: 'issues', connectorId: 'tracker' },
      { kind: 'oauth2', accessToken: 'held', tokenType: 'Bearer' },
    );
    late.inBetween = () => here.engine.complete({ caller: SERVICE, id, surface: 'api' });
    expect((await browser.open(first)).heading).toBe(SAYS.connected());
    expect((await browser.open(path)).heading).toBe(SAYS.connected());
    expect((await here.held())?.credential.reveal()).toMatchObject({ accessToken: 'held' });
    expect(here.tracker.revocations()).toBe(0);
  });
});
