/**
 * An operator's way through the console while pods are killed, with each role, in Chromium and in Firefox. What each page does by
 * itself is in console.test.ts, which has the site.
 */
import type { Page } from 'playwright-core';
import puppeteer, { type Page as FirefoxPage } from 'puppeteer-core';
import { expect, it, onTestFinished } from 'vitest';
import type { ConsoleSite } from '../../harness/console/site.ts';
import { ACTION_MS } from '../../harness/in-chromium.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { looksSound } from '../../harness/widget/site-look.ts';
import { everyPage, type PageOfRoles } from './pages.ts';
import { adminOf, cookiesOf, goWithin, moveTo, type OpenedAs, talkOf } from './setup.ts';

interface ReadTurn {
  readonly state: string;
  readonly pod?: string;
  readonly takeOvers: number;
}

type OpenedPage = Page & { readonly faults: readonly string[] };
type Opened = (more?: OpenedAs) => Promise<OpenedPage>;

/** Kills a pod while a list stands open. What is asked then stands in the list, and what ends leaves it. */
async function killWhileOpen(
  site: ConsoleSite,
  at: number,
  { shows, hides }: Readonly<Record<'shows' | 'hides', (id: string) => Promise<unknown>>>,
): Promise<void> {
  const first = await talkOf(site, { text: 'ask', chatId: `before-${at}` });
  await shows(first.id);
  await site.chats.replace(at, 'SIGKILL');
  const second = await talkOf(site, { text: 'ask', chatId: `after-${at}`, pod: at });
  await shows(second.id);
  const headers = { authorization: `Bearer ${site.readerKey}` };
  const path = `/v1/admin/elicitations/${first.id}`;
  expect((await fetch(site.chats.balancer.url + path, { method: 'DELETE', headers })).status).toBe(200);
  await hides(first.id);
}

/** `opened` opens a page of the console, until the end of the test. */
export function walks(siteOf: () => ConsoleSite, opened: Opened): void {
  it('a viewer, an operator and a reader see on every page what their role allows, before and after a kill', async () => {
    const site = siteOf();
    const pages = await everyPage(site, 'roles');
    const roles = [
      { who: 'viewer', acts: false, reads: false },
      { who: 'operator', acts: true, reads: false },
      { who: 'reader', acts: false, reads: true },
    ] as const;
    const all = await Promise.all(
      roles.map(async (role) => ({
        ...role,
        page: await opened({ who: role.who, path: '/console/elicitations' }),
      })),
    );
    const seesAll = async (
      { page, who, acts, reads }: (typeof all)[number],
      some: readonly PageOfRoles[],
    ) => {
      for (const { path, heading, act, hasContent = false, card } of some) {
        await goWithin(page, path, heading);
        const seen = async () => ({
          acts: act !== undefined && (await page.getByRole('button', { name: act }).count()) > 0,
          note: (await page.getByText('Your roles do not show').count()) > 0,
          card: card !== undefined && (await page.locator(card).count()) > 0,
        });
        await expect.poll(seen, { message: `${who}: ${path}` }).toEqual({
          acts: acts && act !== undefined,
          note: !reads && hasContent,
          card: reads && card !== undefined,
        });
      }
    };
    for (const one of all) await seesAll(one, pages.slice(0, 7));
    for (const { page } of all) await goWithin(page, '/console/elicitations', 'Questions');
    const inAll = (wait: (page: Page) => Promise<void>) => Promise.all(all.map(({ page }) => wait(page)));
    await killWhileOpen(site, 0, {
      shows: (id) => inAll((page) => page.getByText(id).waitFor()),
      hides: (id) => inAll((page) => page.getByText(id).waitFor({ state: 'detached' })),
    });
    for (const one of all) await seesAll(one, pages.slice(7));
    for (const { page } of all) expect(page.faults).toEqual([]);
  });

  it('shows what runs where there is one tenant: pods, and the worker by its name', async () => {
    const { chats } = siteOf();
    const name = 'of-one-tenant';
    const env = { ...chats.env, PARLEY_CONNECT_TENANTS: 'default', PARLEY_POD: name };
    const pod = await chats.site.pod(env);
    await chats.balancer.setTargets([{ name, url: pod.url }]);
    onTestFinished(async () => {
      await chats.route();
      pod.kill('SIGTERM');
      await pod.exited;
    });
    const page = await opened({ who: 'newcomer' });
    const runs = page.getByRole('region', { name: 'What runs' });
    const worker = runs.getByRole('row', { name: /^worker Running .* timers-0 / });
    // A worker writes how it stands every ten seconds, and nothing else changes here that would have the page read it again.
    const isShown = async () => {
      await page.reload();
      await runs.waitFor();
      return (await worker.count()) === 1;
    };
    await waitUntil(isShown, { what: 'the worker on the page', everyMs: 1_000 });
    await worker.getByText(/ago$/).first().waitFor();
    await expect.poll(() => runs.getByRole('row', { name: /^[012] Running$/ }).count()).toBe(3);
    await looksSound(page);
  });

  it("answers why alice's chat hangs, and ends it, while its pods die", async () => {
    const site = siteOf();
    const { userId, turn, authorization } = await talkOf(site, {
      text: 'lead',
      chatId: 'trip',
      agent: 'lead',
      pod: 2,
    });
    const admin = adminOf(site);
    const read = () => admin<ReadTurn>(`/turns/${turn}?userId=${userId}`);
    const kill = async () => {
      const { pod, takeOvers: before } = await read();
      await site.chats.replace(Number(pod), 'SIGKILL');
      await waitUntil(async () => (await read()).takeOvers > before, {
        what: 'another pod to take the turn over',
      });
    };
    await kill();
    const page = await opened();

    // What waits for her?
    await page.getByRole('link', { name: 'People' }).click();
    await page.getByLabel('User id').fill(userId);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'The agent asked' }).waitFor();
    // Why, and how did it get there?
    const turns = page.getByRole('region', { name: 'Turns' });
    await turns.getByRole('link', { name: 'lead', exact: true }).click();
    await page.getByText('of its pods died before').waitFor();
    const picture = page.getByRole('img', { name: /^Timeline of the turn/ });
    await picture.waitFor();
    const takeOvers = picture.locator('.takeover');
    const before = await takeOvers.count();
    expect(before).toBeGreaterThan(0);
    await kill();
    await expect.poll(() => takeOvers.count()).toBeGreaterThan(before);
    await page.getByText('Waits: The agent asked').waitFor();
    // End it.
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('dialog', { name: 'Stop the turn?' }).getByRole('button', { name: 'Stop' }).click();
    await page.getByText('The turn stops.').waitFor();
    await page.locator('.facts').getByText('Stopped').waitFor();
    await site.chats.untilOver(authorization, 'trip');
    expect(page.faults).toEqual([]);
  });
}

/** The same in Firefox, at that path. */
export function inFirefox(siteOf: () => ConsoleSite, executablePath: string): void {
  it('shows every page, also after a kill, and leads to a turn, whose timeline it draws, and ends it', async () => {
    const site = siteOf();
    const browser = await puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
    onTestFinished(() => browser.close());
    const page: FirefoxPage = await browser.newPage();
    page.setDefaultTimeout(ACTION_MS);
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    const { hostname: domain } = new URL(site.publicUrl);
    const cookies = await cookiesOf(site, 'olivia');
    await browser.setCookie(...cookies.map(({ name, value }) => ({ name, value, domain })));
    const [asked, pages] = await Promise.all([
      talkOf(site, { text: 'ask', chatId: 'firefox' }),
      everyPage(site, 'firefox'),
    ]);
    const find = (path: string) => page.waitForSelector(`::-p-xpath(${path})`);
    const click = async (text: string) =>
      (await find(`//*[self::a or self::button][normalize-space()='${text}']`))?.click();
    const go = async (path: string, heading: string) => {
      await page.evaluate(moveTo, path);
      await find(`//h1[starts-with(normalize-space(), '${heading}')]`);
      await page.waitForFunction(() => document.querySelector('[aria-busy=true]') === null);
    };
    await page.goto(`${site.publicUrl}/console`);
    await find("//h1[normalize-space()='Overview']");
    for (const { path, heading } of pages.slice(0, 7)) await go(path, heading);
    await go('/console/elicitations', 'Questions');
    await killWhileOpen(site, 1, {
      shows: (id) => page.waitForFunction((text) => document.body.innerText.includes(text), {}, id),
      hides: (id) => page.waitForFunction((text) => !document.body.innerText.includes(text), {}, id),
    });
    for (const { path, heading, card } of pages.slice(7)) {
      await go(path, heading);
      if (card !== undefined) await page.waitForSelector(card);
    }
    await go(`/console/elicitations/${asked.id}`, 'Question');
    await click(asked.turn);
    await page.waitForSelector('svg.timeline .span.wait');
    expect(await page.$$eval('svg.timeline .span', (spans) => spans.length)).toBeGreaterThan(4);
    await click('Stop');
    await (await page.waitForSelector('dialog[open] .danger'))?.click();
    await find("//dl//*[normalize-space()='Stopped']");
    expect(faults).toEqual([]);
  });
}
