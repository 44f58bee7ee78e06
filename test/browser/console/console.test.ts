import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchChromium } from '../../../demo/chromium.ts';
import { type ConsoleSite, openConsoleSite } from '../../harness/console/site.ts';
import { describeInChromium, openPage } from '../../harness/in-chromium.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { onPath } from '../../harness/on-path.ts';
import { looksSound } from '../../harness/widget/site-look.ts';
import { everyPage } from './pages.ts';
import { askAsService, askForWebhook, goTo, goWithin, type OpenedAs, openConsole, talkOf } from './setup.ts';
import { inFirefox, walks } from './walk.ts';

const FIREFOX = 'the console in Firefox while a pod is killed';

let site: ConsoleSite;
beforeAll(async () => {
  site = await openConsoleSite();
});
afterAll(() => site?.stop());

await describeInChromium('the console', (chromium) => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium(chromium);
  });
  afterAll(() => browser?.close());
  const opened = async (how?: OpenedAs) => {
    const page = await openConsole(browser, site, how);
    onTestFinished(() => page.context().close());
    return page;
  };
  const open = (path?: string, more: Omit<OpenedAs, 'path'> = {}) =>
    opened({ ...more, ...(path !== undefined && { path }) });

  describe('every page', () => {
    it('is sound in every size and colour, and shows texts of others as text', async () => {
      const pages = await everyPage(site, 'sound');
      const page = await open();
      for (const { path, heading } of pages) {
        await goWithin(page, path, heading);
        await looksSound(page);
      }
      const asked = pages.find(({ card }) => card === 'elicitation-card');
      await goWithin(page, `${asked?.path}`, 'Question');
      await page.locator('elicitation-card').getByText('<img src=x').waitFor();
      await goWithin(page, '/console', 'Overview');
      // Of a deployment with several tenants, its operators do not see what runs.
      expect(await page.getByRole('heading', { name: 'What runs' }).count()).toBe(0);
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
      expect(page.faults).toEqual([]);
    });
  });

  it('is walked by keyboard alone: to a question, and back by the history', async () => {
    const { id, userId } = await talkOf(site, { text: 'ask', chatId: 'keys' });
    const page = await open();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('content');

    await page.getByRole('link', { name: 'Questions' }).first().press('Enter');
    await expect.poll(focused).toBe('Questions');
    await page.getByLabel('Person').pressSequentially(userId);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`userId=${userId}`);
    const question = page.getByRole('link', { name: 'The agent asked' });
    await expect.poll(() => question.count()).toBe(1);
    await question.press('Enter');
    await expect.poll(focused).toBe(`Question ${id}`);
    await page.goBack();
    await expect.poll(() => page.url()).toContain(`userId=${userId}`);
    expect(await page.getByLabel('Person').inputValue()).toBe(userId);
  });

  it('speaks German where the browser does', async () => {
    const { turn, userId } = await talkOf(site, { text: 'ask', chatId: 'german' });
    const page = await open(`/console/turns/${turn}?userId=${userId}`, { locale: 'de-DE' });
    await page.getByText('Der Lauf').first().waitFor();
    await looksSound(page);
    await goTo(page, '/console/turns', 'Läufe');
    await looksSound(page);
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('de');
    expect(await page.title()).toBe('Läufe · Example Corporation');
  });

  it('withdraws a question after it has asked back, and says so', async () => {
    const { id } = await talkOf(site, { text: 'ask', chatId: 'withdrawn' });
    const page = await open(`/console/elicitations/${id}`);
    const withdraw = page.getByRole('button', { name: 'Withdraw' });
    await withdraw.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Withdraw it?' });
    await looksSound(page);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await withdraw.evaluate((button) => button === document.activeElement)).toBe(true);

    await withdraw.press('Enter');
    await dialog.getByLabel('Reason').fill('asked_twice');
    await dialog.getByRole('button', { name: 'Withdraw' }).press('Enter');
    await page.getByText('It is withdrawn.').waitFor();
    await page.getByText('asked_twice').first().waitFor();
    expect(await withdraw.count()).toBe(0);
  });

  it('makes an answer link after it has asked back, shows it once and copies it', async () => {
    const { id } = await talkOf(site, { text: 'ask', chatId: 'linked' });
    const page = await open(`/console/elicitations/${id}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Make an answer link' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Make an answer link?' });
    await looksSound(page);
    await dialog.getByLabel('Can be opened for').selectOption('900');
    await dialog.getByRole('button', { name: 'Make an answer link' }).press('Enter');
    const link = dialog.getByLabel('Answer link');
    expect(await link.inputValue()).toContain(`/auth/answer/${id}#`);
    await dialog.getByRole('button', { name: 'Copy' }).press('Enter');
    await dialog.getByText('It is copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await link.inputValue());
    await looksSound(page);
    await dialog.getByRole('button', { name: 'Close' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    // A dialog is closed, and with that no dialog any more, a moment before its elements are removed.
    await expect.poll(() => page.content()).not.toContain('/auth/answer/');
    for (const said of ['The link is revoked.', 'There was no link to revoke.']) {
      await page.getByRole('button', { name: 'Revoke the answer link' }).press('Enter');
      const asks = page.getByRole('dialog', { name: 'Revoke the answer link?' });
      await asks.getByRole('button', { name: 'Revoke the answer link' }).press('Enter');
      await page.getByText(said).waitFor();
    }
  });

  it('shows what is to be delivered as it comes, without its address, and delivers it again', async () => {
    const userId = `receiver-${crypto.randomUUID()}`;
    const page = await open(`/console/deliveries?userId=${userId}&kind=webhook`);
    await page.getByText('Nothing matches.').waitFor();
    const id = await askForWebhook(site, userId);
    const row = page.getByRole('row').filter({ hasText: id });
    await row.getByText('hooks.invalid', { exact: true }).waitFor();
    expect(await page.content()).not.toContain('hidden?');
    await row.getByRole('button', { name: `Deliver again: Webhook msg_${id}` }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Deliver again' });
    await dialog.getByRole('button', { name: 'Deliver again' }).press('Enter');
    await page.getByText('A worker delivers it.').waitFor();
    await row.getByRole('link').first().press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Question' }).waitFor();
    const viewer = await open(`/console/deliveries?userId=${userId}`, { who: 'viewer' });
    await viewer.getByRole('row').filter({ hasText: id }).waitFor();
    expect(await viewer.getByRole('button', { name: 'Deliver again' }).count()).toBe(0);
  });

  it('erases a person once their id is typed', async () => {
    const { userId } = await talkOf(site, { text: 'ask', chatId: 'erased' });
    const page = await open(`/console/people/${encodeURIComponent(userId)}`);
    await expect.poll(() => page.getByRole('link', { name: 'The agent asked' }).count()).toBe(1);
    await page.getByRole('button', { name: 'Erase' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Erase this person?' });
    await looksSound(page);
    const typed = dialog.getByLabel('Type this user id');
    await typed.fill(`${userId}x`);
    await typed.press('Enter');
    expect(await typed.evaluate((input: HTMLInputElement) => input.validationMessage)).toBe(
      'This is not the id of the person.',
    );
    await typed.fill(userId);
    await typed.press('Enter');
    await page.getByText('The person is erased.').waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'The agent asked' }).count()).toBe(0);
  });

  it('moves a deadline, and shows the old one and the new one', async () => {
    const { id } = await talkOf(site, { text: 'ask', chatId: 'extended' });
    const page = await open(`/console/elicitations/${id}`);
    await page.getByRole('button', { name: 'Extend' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Move the deadline?' });
    await dialog.getByLabel('Longer by').selectOption('3600');
    await dialog.getByRole('button', { name: 'Extend' }).press('Enter');
    await page.getByText('The deadline is moved.').waitFor();
    await page
      .locator('.facts')
      .getByText(/in 6\d minutes/)
      .waitFor();
    await expect.poll(() => page.locator('#history ~ table tbody tr').count()).toBe(2);
  });

  it('is signed in to at the company, back to the page that was asked for, and signed out of', async () => {
    const page = await openPage(browser);
    onTestFinished(() => page.context().close());
    await page.goto(`${site.publicUrl}/console/turns?state=ended`);
    await page.getByRole('heading', { name: 'Operator console' }).waitFor();
    await looksSound(page);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByRole('button').first().click();
    await page.getByLabel('User').fill('olivia');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Turns' }).waitFor();
    expect(page.url()).toBe(`${site.publicUrl}/console/turns?state=ended`);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
    await page.goto(`${site.publicUrl}/console/people`);
    await page.getByRole('link', { name: 'Sign in' }).waitFor();
  });

  it('gives a list as a file, with the filters that are set', async () => {
    const { id, userId } = await talkOf(site, { text: 'ask', chatId: 'exported' });
    const page = await open(`/console/elicitations?userId=${userId}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export JSON Lines' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('elicitations.jsonl');
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).elicitationId)).toEqual([id]);
  });

  it('shows one tenant at a time, and nothing of the one before', async () => {
    const { id } = await talkOf(site, { text: 'ask', chatId: 'tenants' });
    const page = await open();
    await page.getByText('The oldest began').first().waitFor();
    await page.getByLabel('Tenant').selectOption('globex');
    await page.getByText('Nothing is open.').first().waitFor();
    await expect.poll(() => page.getByText('The oldest began').count()).toBe(0);
    await goTo(page, `/console/elicitations/${id}`, 'Question');
    await page.getByText('This does not exist, or is kept no longer.').waitFor();
    await page.getByLabel('Tenant').selectOption('default');
    await page.getByText('The oldest began').first().waitFor();
    // It follows the tenant that it shows, also on a page that stood there before.
    await page.getByLabel('Tenant').selectOption('globex');
    await page.getByText('Nothing is open.').first().waitFor();
    await page.getByLabel('Tenant').selectOption('default');
    const count = page.locator('#elicitations ~ .figure strong');
    await expect.poll(() => count.textContent()).not.toBe('0');
    const before = Number(await count.textContent());
    await talkOf(site, { text: 'ask', chatId: 'followed' });
    await expect.poll(() => count.textContent()).toBe(`${before + 1}`);
  });

  it('follows what changes by one stream', async () => {
    const page = await open();
    // What the first load still asks for is not counted.
    await page.getByText('Live', { exact: true }).waitFor();
    const streams: string[] = [];
    page.on(
      'request',
      (request) => request.url().includes('/v1/admin/events') && streams.push(request.url()),
    );
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Questions' }).first().click();
    const { id } = await talkOf(site, { text: 'ask', chatId: 'live' });
    await page.getByText(id).waitFor();
    expect(streams).toHaveLength(1);
  });

  it('shows a list of which something changes before each reply', async () => {
    await askAsService(site);
    const page = await open('/console/people', { who: 'viewer' });
    let told = 0;
    await page.route('**/v1/admin/events', async (route) => {
      told += 1;
      const body = 'retry: 300\nevent: reload\ndata: {}\n\n';
      await route.fulfill({ contentType: 'text/event-stream', body });
    });
    await page.route(/\/v1\/admin\/elicitations/, async (route) => {
      const before = told;
      await expect.poll(() => told).toBeGreaterThan(before + 4);
      // The page may have given the call up.
      await route.continue().catch(() => undefined);
    });
    await page.goto(`${site.publicUrl}/console/elicitations`);
    await page.getByRole('table').waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  describe('while pods are killed', () => walks(() => site, opened));
});

const firefox = onPath('firefox-esr') ?? onPath('firefox');
if (firefox === undefined)
  suiteNotRun(FIREFOX, 'there is no firefox-esr, and it was not installed: see the start of the run');
else describe(FIREFOX, () => inFirefox(() => site, firefox));
