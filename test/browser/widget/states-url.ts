import type { UrlWarning } from '@parley/core/domain/url';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { ENGLISH } from '../../../clients/widget/src/strings/en.ts';
import type { Person, Site, WithPerson } from '../../harness/widget/site.ts';
import {
  awake,
  button,
  cardIn,
  focused,
  link,
  part,
  reads,
  spoken,
  tabTo,
} from '../../harness/widget/site-card.ts';
import { isAnswerTo } from '../../harness/widget/site-pages.ts';

/** What the page script tried before any button was pressed. */
declare const unasked: string;
declare const show: (card: object) => void;

export const CONNECT_QUESTION = {
  mode: 'url',
  title: 'Connect your account',
  message: 'To pay I need access to your account.',
  completion: 'server',
  context: { trigger: 'credential_required', agent: 'Release helper', toolName: 'Bank' },
} as const;

const WHY = { trigger: 'credential_required', tool: 'Bank' };

const isStream = (method: string, path: string) => method === 'GET' && path === '/v1/inbox/events';
const isRead = (id: string) => (method: string, path: string) =>
  method === 'GET' && path === `/v1/elicitations/${id}`;

/** Presses the link and gives the tab that the browser opened. */
export async function openedBy(context: BrowserContext, press: () => Promise<void>): Promise<Page> {
  const [tab] = await Promise.all([context.waitForEvent('page'), press()]);
  await tab.waitForLoadState();
  return tab;
}

/** Asks about a page of the bank, which finishes the question. */
async function askAbout(site: Site, ada: Person, more: { strict?: boolean } = {}) {
  const bank = site.bank.newPage(more);
  const asked = await ada.ask({ ...CONNECT_QUESTION, url: bank.url });
  bank.belongsTo(asked.id);
  return { ...asked, bank };
}

/** What a press opens, in a browser that blocks windows which nobody asked for. */
export function opensWindows(site: () => Site, withPerson: WithPerson): void {
  it("runs in a browser that blocks popups and isolates sites, like a person's", () =>
    withPerson(async (ada) => {
      const tries = "globalThis.unasked = window.open('about:blank') === null ? 'blocked' : 'opened';";
      const page = await ada.visit({ html: `<!doctype html><script>${tries}</script>` });
      expect(await page.evaluate(() => unasked)).toBe('blocked');
      const { url } = site().bank;
      await page.goto(`${url}/empty`);
      await page.evaluate(() => localStorage.setItem('seen', 'by the site itself'));
      await page.goto(`${url.replace('localhost', '127.0.0.1')}/frame`);
      const [, frame] = page.frames();
      expect(await frame?.evaluate(() => [location.hostname, localStorage.getItem('seen')])).toEqual([
        'localhost',
        null,
      ]);
    }));

  it('opens its page at the press, and is finished by push while that is open [MCP25-03 MCP25-19 MCP25-49 MCP25-57 MCP25-58 MCP26-03 MCP26-36 MCP26-44 MCP26-45 ACP-01 ACP-07 ACP-44 ACP-45]', () =>
    withPerson((ada) => finishedByPush(site(), ada, false)));
}

/** Follows a question to its page, which finishes it; `strict` pages cut each other off. */
async function finishedByPush(site: Site, ada: Person, strict: boolean): Promise<void> {
  const { id, outcome, bank } = await askAbout(site, ada, { strict });
  const page = await ada.open({ ids: [id], strict });
  const card = await cardIn(page, 'pending');
  for (const words of [ENGLISH.asks('Release helper'), ENGLISH.why(WHY)]) {
    expect(await card.innerText()).toContain(words);
  }
  expect(await part(page, 'address').locator('code').innerText()).toBe(bank.url);
  expect(await part(page, 'address').locator('b').allInnerTexts()).toEqual(['localhost']);
  await awake(page);
  expect(bank.visits()).toBe(0);
  expect(await link(page).innerText()).toMatch(/^Connect account/u);
  const tab = await openedBy(ada.context, () => link(page).click());
  await cardIn(page, 'opened');
  await reads(spoken(page), ENGLISH.waitingThere);
  expect(await tab.evaluate(() => [window.opener, document.referrer])).toEqual([null, '']);
  expect([tab.url(), bank.visits()]).toEqual([bank.url, 1]);
  expect((await site.service.get(id)).status).toBe('opened');
  await tab.getByRole('button', { name: 'Confirm' }).click();
  await reads(
    await cardIn(page, 'accepted'),
    ENGLISH.ended({ status: 'accepted', mode: 'url', here: true, reason: undefined }),
  );
  expect(tab.isClosed()).toBe(false);
  expect(await outcome).toMatchObject({ status: 'accepted' });
}

/** The other states of a question that leads to a page of others. */
export function urlStates(site: () => Site, withPerson: WithPerson): void {
  it('is finished by push on pages that cut each other off', () =>
    withPerson((ada) => finishedByPush(site(), ada, true)));

  it('is settled by the press with client completion', () =>
    withPerson(async (ada) => {
      const bank = site().bank.newPage();
      const { completion: _, ...question } = CONNECT_QUESTION;
      const { id, outcome } = await ada.ask({ ...question, url: bank.url, context: { agent: 'Shop' } });
      const page = await ada.open({ ids: [id] });
      await awake(page);
      expect(await link(page).innerText()).toMatch(/^Open page/u);
      await openedBy(ada.context, () => link(page).click());
      await cardIn(page, 'accepted');
      expect(await outcome).toMatchObject({ status: 'accepted' });
    }));

  it('opens nothing until its link has been in view for a second [MCP25-06 MCP25-55 MCP25-56 MCP26-06 MCP26-42 MCP26-43 ACP-05 ACP-06 ACP-42 ACP-43]', () =>
    withPerson(async (ada) => {
      const { id, bank } = await askAbout(site(), ada);
      await ada.context.clock.install();
      const page = await ada.open({ ids: [id], deep: true });
      await cardIn(page, 'pending');
      await page.clock.pauseAt(Date.now() + 5_000);
      await page.clock.runFor(10_000);
      expect(await link(page).getAttribute('href')).toBeNull();
      await link(page).scrollIntoViewIfNeeded();
      await link(page).evaluate(inView);
      await page.clock.runFor(500);
      expect(await link(page).getAttribute('aria-disabled')).toBe('true');
      await link(page).click({ force: true });
      await link(page).press('Enter');
      await page.clock.runFor(400);
      await reads(spoken(page), ENGLISH.lookFirst);
      expect(await link(page).getAttribute('href')).toBeNull();
      expect(ada.context.pages()).toEqual([page]);
      await page.clock.runFor(200);
      expect(await link(page).getAttribute('href')).toBe(bank.url);
      expect(site().pages.count(isAnswerTo(id))).toBe(0);
      expect(bank.visits()).toBe(0);
    }, {}));

  it('is opened, checked, opened again and cancelled by keyboard alone, whatever becomes of the other window [MCP25-25 MCP26-20]', () =>
    withPerson(async (ada) => {
      const { id, outcome, bank } = await askAbout(site(), ada);
      const page = await ada.open({ ids: [id] });
      const pressLink = async () => {
        const tab = await openedBy(ada.context, () => page.keyboard.press('Enter'));
        expect(tab.url()).toBe(bank.url);
        await tab.close();
        await page.bringToFront();
        await cardIn(page, 'opened');
      };
      await ada.context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await awake(page);
      await tabTo(page, 'Copy link');
      await page.keyboard.press('Enter');
      await reads(spoken(page), ENGLISH.copied);
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(bank.url);
      await tabTo(page, 'Connect account');
      await pressLink();
      const looks = site().pages.count(isRead(id));
      await tabTo(page, 'Check now');
      await page.keyboard.press('Space');
      await expect.poll(() => site().pages.count(isRead(id))).toBeGreaterThan(looks);
      await button(page, 'Check now').waitFor();
      await (await awake(page)).focus();
      await pressLink();
      expect(bank.visits()).toBe(2);
      expect(site().pages.count(isAnswerTo(id))).toBe(1);
      await tabTo(page, 'Cancel');
      await page.keyboard.press('Space');
      await cardIn(page, 'cancelled');
      expect((await focused(page)).name).toBe('Connect your account');
      expect(await outcome).toMatchObject({ status: 'cancelled' });
    }));

  it('polls where no event stream gets through', () =>
    withPerson(async (ada) => {
      const stream = site().pages.hold(isStream);
      const { id, bank } = await askAbout(site(), ada);
      const page = await ada.open({ ids: [id] });
      await awake(page);
      const tab = await openedBy(ada.context, () => link(page).click());
      await cardIn(page, 'opened');
      await tab.getByRole('button', { name: 'Confirm' }).click();
      await tab.getByRole('heading', { name: 'Confirmed' }).waitFor();
      await cardIn(page, 'accepted');
      stream();
      expect(bank.visits()).toBe(1);
    }));

  it('stays a form while its answer page is open elsewhere', () =>
    withPerson(async (ada) => {
      const page = await ada.open();
      const elicitation = {
        elicitationId: 'el_1',
        mode: 'form',
        status: 'opened',
        message: 'Which name?',
        answerUrl: 'https://parley.example/auth/answer/el_1',
        requestedSchema: { type: 'object', properties: { name: { type: 'string', title: 'Name' } } },
      };
      await page.evaluate((card) => show(card), { server: undefined, elicitation });
      const card = await cardIn(page, 'opened');
      await card.getByRole('textbox', { name: 'Name' }).waitFor();
      expect(await card.innerText()).not.toContain(ENGLISH.waitingThere);
      expect(await link(page).count()).toBe(0);
    }));

  it('warns of suspicious URLs, with the host in bold [MCP25-54 MCP25-59 MCP25-60 MCP26-41 MCP26-46 MCP26-47 ACP-46]', () =>
    withPerson(async (ada) => {
      const page = await ada.open();
      for (const [at, [url, host, warning]] of ADDRESSES.entries()) {
        const { id } = await ada.ask({ mode: 'url', title: 'Open this?', url });
        await page.evaluate((elicitationId) => show({ elicitationId }), id);
        const card = page.locator('elicitation-card').nth(at);
        await card.locator('code').waitFor();
        expect(await card.locator('code').innerText()).toBe(url);
        expect(await card.locator('code b').allInnerTexts()).toEqual([host]);
        const weight = await card.locator('code b').evaluate((bold) => getComputedStyle(bold).fontWeight);
        expect(Number(weight)).toBeGreaterThanOrEqual(700);
        const warnings = await card.locator('[part=warning]').allInnerTexts();
        expect(warnings.join('')).toEqual(
          warning === undefined ? '' : expect.stringContaining(ENGLISH.warning(warning)),
        );
        expect(await card.locator('a').count()).toBe(1);
      }
    }));

  it('never comes with an address that Parley refuses [MCP25-18 MCP26-18]', () =>
    withPerson(async (ada) => {
      for (const url of [
        'https://bank.example@evil.example/',
        'http://bank.example/',
        'javascript:alert(1)',
        'https://b\u0430nk.example/',
      ])
        await expect(ada.ask({ mode: 'url', url })).rejects.toMatchObject({ status: 400 });
    }));
}

/** Runs in the page: resolves once the browser has notified all observers that an element is in view. */
function inView(element: Element): Promise<void> {
  return new Promise((resolve) => {
    new IntersectionObserver(([entry]) => entry?.isIntersecting && resolve(), { threshold: 1 }).observe(
      element,
    );
  });
}

const ADDRESSES: readonly (readonly [url: string, host: string, warning?: UrlWarning])[] = [
  ['https://accounts.example.com/a?b=c#d', 'accounts.example.com'],
  ['https://paypal.com.login.example.net/', 'paypal.com.login.example.net'],
  ['https://xn--pple-43d.com/signin', 'xn--pple-43d.com', 'punycode'],
  ['https://192.0.2.7/login', '192.0.2.7', 'address'],
  ['https://[2001:db8::1]/login', '[2001:db8::1]', 'address'],
  ['https://login.example.com:8443/start', 'login.example.com', 'port'],
];
