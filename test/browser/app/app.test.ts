import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { launchChromium } from '../../../demo/chromium.ts';
import { describeInChromium, openPage } from '../../harness/in-chromium.ts';
import type { ServedMcp } from '../../harness/mcp-servers/serve-mcp.ts';
import { openPagedChat } from '../../harness/turns/paged-chat.ts';
import { modelOf } from '../../harness/turns/site.ts';
import { looksSound } from '../../harness/widget/site-look.ts';
import { type AppSite, serveShop, startAppSite } from './site.ts';

const model = modelOf(({ userText, results }) =>
  results.length > 0
    ? { text: `Heard: ${results.map(({ text }) => text).join(' & ')}` }
    : { calls: [{ name: userText, arguments: {} }] },
);

await describeInChromium('the page of a tool', (chromium) => {
  const called: string[] = [];
  let shop: ServedMcp;
  let site: AppSite;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  const outside: string[] = [];

  beforeAll(async () => {
    shop = await serveShop(called);
    site = await startAppSite();
    browser = await launchChromium(chromium);
  });
  beforeEach(async () => {
    for (const list of [called, faults, outside]) list.splice(0);
    page = await openPage(browser, { locale: 'en-US' });
    await page.context().route(/evil\.example|example\.com/, (route) => {
      outside.push(route.request().url());
      return route.fulfill({ status: 200, contentType: 'text/html', body: 'outside' });
    });
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/i.test(message.text())) faults.push(message.text());
    });
    return () => page.close();
  });
  afterAll(async () => {
    await browser?.close();
    site?.close();
    await shop?.stop();
  });

  /** A page with the element that shows the call of a tool. */
  async function show(tool: string) {
    const { url, chat, person, engine } = await openPagedChat(`models:
  scripted: { provider: openai-compatible, baseUrl: "${model.current.url}", model: scripted }
agents:
  helper: { title: Helper, model: scripted, instructions: Be brief., tools: [{ server: shop, pages: true }] }
defaultAgent: helper
mcpServers:
  shop: { title: Shop, transport: http, url: "${shop.url}", credentialScope: none, toolApprovals: { track: { ask: always } } }
`);
    site.pod = url;
    const [part] = await chat(`shop__${tool}`);
    await page.goto(site.origin);
    await page.evaluate(
      async ([pageId, token]) => {
        const app = document.querySelector('parley-app');
        if (app === null) throw new Error('There is no element.');
        await customElements.whenDefined('parley-app');
        Object.assign(app, { conversationId: 'c', pageId, server: { getToken: () => token } });
      },
      [part.data.pageId as string, person.token] as const,
    );
    const owner = { tenant: person.tenant, userId: person.userId };
    return { engine, owner };
  }

  /** The innermost frame, which is the view. */
  async function view(): Promise<Frame> {
    const outer = await page.waitForSelector('parley-app iframe');
    const sandbox = await outer.contentFrame();
    const inner = await sandbox?.waitForSelector('iframe');
    const frame = await inner?.contentFrame();
    if (!frame) throw new Error('There is no view.');
    return frame;
  }

  const text = async (frame: Frame, id: string, expected: string | RegExp) => {
    const told = frame.locator(`#${id}`);
    await told.filter({ hasText: expected }).waitFor();
    return told.textContent();
  };

  it('gets the call, the theme and its size, and nothing violates a policy', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await show('order');
    const frame = await view();
    await text(frame, 'ready', 'ready');
    expect(await text(frame, 'input', '{')).toBe('{}');
    expect(await text(frame, 'result', 'paid')).toBe(
      '{"structuredContent":{"paid":true},"_meta":{"acme/tab":2}}',
    );
    await text(frame, 'theme', 'dark');
    await text(frame, 'locale', 'en');
    await page.emulateMedia({ colorScheme: 'light' });
    await text(frame, 'theme', 'light');
    await looksSound(page);
    await expect
      .poll(() => page.locator('parley-app iframe').evaluate((one) => one.getBoundingClientRect().height))
      .toBeGreaterThan(150);
    expect([faults, outside]).toEqual([[], []]);
  });

  it('calls tools of its server alone, and waits for the approval of its person', async () => {
    const { engine, owner } = await show('order');
    const frame = await view();
    await text(frame, 'ready', 'ready');
    await frame.click('#refund');
    await text(frame, 'told', 'Order 7 is paid');
    for (const name of ['bank__order', 'order__secret']) {
      await frame.click(`#${name}`);
      await text(frame, 'told', `Unknown tool: ${name}`);
    }
    await page.locator('parley-app').evaluate((app) =>
      Object.assign(app, {
        cardFor: ({ type, data }: { type: string; data: { status: string } }) =>
          Object.assign(document.createElement('p'), { textContent: `card of ${type}, ${data.status}` }),
      }),
    );
    await page.evaluate(() =>
      addEventListener('app-waits', (event) => {
        const { waits } = (event as CustomEvent<{ waits: readonly { type: string }[] }>).detail;
        Object.assign(globalThis, { asked: waits.map(({ type }) => type) });
      }),
    );
    await frame.click('#track');
    await page.getByText('Shop waits for you').waitFor();
    await page.getByText('card of data-approval-request, pending').waitFor();
    expect(await page.evaluate(() => (globalThis as { asked?: unknown }).asked)).toEqual([
      'data-approval-request',
    ]);
    expect(called).toEqual(['order', 'refund']);
    const [{ id } = { id: '' }] = (await engine.approvals.list({ owner, statuses: ['pending'], limit: 1 }))
      .rows;
    const response = { decision: 'deny' } as const;
    await engine.approvals.decide({ caller: { kind: 'user', ...owner }, id, response, surface: 'inbox' });
    await text(frame, 'told', /denied|declined|rejected|not approve/i);
    await page.getByText('Shop waits for you').waitFor({ state: 'detached' });
    expect([called, faults]).toEqual([['order', 'refund'], []]);
  });

  it('opens an address once its person says so, in a page that does not know this one', async () => {
    await show('order');
    const frame = await view();
    await text(frame, 'ready', 'ready');
    await frame.click('#link');
    await page.getByText('https://example.com/order?id=7').waitFor();
    await page.getByRole('button', { name: 'Do not open' }).click();
    await text(frame, 'told', 'true');
    expect(outside).toEqual([]);
    await frame.click('#link');
    const opening = page.context().waitForEvent('page');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    const opened = await opening;
    await opened.waitForLoadState();
    expect(await opened.evaluate(() => window.opener)).toBeNull();
    expect(outside).toEqual(['https://example.com/order?id=7']);
    await opened.close();
  });

  it('moves no button under the pointer of its person', async () => {
    await page.setViewportSize({ width: 800, height: 400 });
    await show('moving');
    const frame = await view();
    await text(frame, 'done', 'end');
    // It is below what is seen, and a click that was meant for something else finds no button that does something.
    const open = page.getByRole('button', { name: 'Open', exact: true });
    expect(await open.isDisabled()).toBe(true);
    const height = () => page.locator('parley-app iframe').evaluate((one) => one.clientHeight);
    expect(await height()).toBe(500);
    await open.scrollIntoViewIfNeeded();
    await expect.poll(() => open.isEnabled()).toBe(true);
    await page.getByRole('button', { name: 'Do not open' }).click();
    await expect.poll(height).toBe(60);
    expect(outside).toEqual([]);
  });

  it('does nothing beyond its frame when it is hostile', async () => {
    await show('hostile');
    const frame = await view();
    await text(frame, 'done', 'end');
    const done = (await frame.locator('#done').textContent()) ?? '';
    expect(done).toMatch(/^no-parent no-top no-storage no-cookie no-popup form no-fetch /);
    expect(done.match(/link:\{"isError":true\}/g)).toHaveLength(5);
    for (const method of ['resources/read', 'sampling/createMessage', 'ui/message', 'tools/list', 'tool'])
      expect(done).toContain(`${method}:error`);
    expect(done).not.toContain('TOKEN');
    expect(await page.locator('parley-app iframe').evaluate((one) => one.clientHeight)).toBeLessThanOrEqual(
      800,
    );
    expect([outside, called, new URL(page.url()).origin]).toEqual([[], ['hostile'], site.origin]);
  });

  it('does not leave its frame', async () => {
    await show('away');
    await expect.poll(() => faults.join()).toContain('frame-src');
    expect([outside, new URL(page.url()).origin]).toEqual([[], site.origin]);
  });

  it('is ended when it sends too much', async () => {
    await show('flood');
    await page.getByText('it sent too many messages').waitFor();
    expect(await page.locator('parley-app iframe').count()).toBe(0);
    await page.getByRole('button', { name: 'Try again' }).waitFor();
  });

  it.each([
    ['without a sandbox', (app: Element) => app.removeAttribute('sandbox-url'), ''],
    [
      'with a sandbox that is a program',
      (app: Element) => app.setAttribute('sandbox-url', 'javascript:alert(1)'),
      'could not be shown',
    ],
    [
      'with a sandbox of its own origin',
      (app: Element) => app.setAttribute('sandbox-url', '/sandbox.html'),
      'could not be shown',
    ],
  ])('is not shown %s', async (_what, change, expected) => {
    await show('order');
    await view();
    await page.locator('parley-app').evaluate(change);
    await page.locator('parley-app iframe').waitFor({ state: 'detached' });
    const shown = await page.locator('parley-app').evaluate((app) => app.shadowRoot?.textContent?.trim());
    expect(shown).toContain(expected);
  });
});
