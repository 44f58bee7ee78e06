import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsoleSite, openConsoleSite } from '../../harness/console/site.ts';
import { ACTION_MS } from '../../harness/in-chromium.ts';
import { suiteNotRun } from '../../harness/not-run.ts';
import { onPath } from '../../harness/on-path.ts';
import { cookiesOf, talkOf } from './setup.ts';

const NAME = 'the console in Firefox';
const firefox = onPath('firefox-esr') ?? onPath('firefox');

async function firefoxCookies(site: ConsoleSite) {
  const { hostname: domain } = new URL(site.publicUrl);
  return (await cookiesOf(site, 'olivia')).map(({ name, value }) => ({ name, value, domain }));
}

function walk(executablePath: string): void {
  let site: ConsoleSite;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    [site, browser] = await Promise.all([
      openConsoleSite(1),
      puppeteer.launch({ browser: 'firefox', executablePath, headless: true }),
    ]);
    page = await browser.newPage();
    page.setDefaultTimeout(ACTION_MS);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });

  it('leads from the overview to a question and its turn, whose timeline it draws, and ends it', async () => {
    const faults: string[] = [];
    page.on('pageerror', (error) => faults.push(String(error)));
    const asked = await talkOf(site, { text: 'ask', chatId: 'firefox' });
    const click = async (text: string) => {
      const found = await page.waitForSelector(
        `::-p-xpath(//*[self::a or self::button][normalize-space()='${text}'])`,
      );
      await found?.click();
    };
    const heading = (text: string) =>
      page.waitForSelector(`::-p-xpath(//h1[starts-with(normalize-space(), '${text}')])`);
    await browser.setCookie(...(await firefoxCookies(site)));
    await page.goto(`${site.publicUrl}/console`);
    await heading('Overview');
    await click('Questions');
    await heading('Questions');
    await click('The agent asked');
    await heading('Question');
    await page.waitForSelector('elicitation-card');
    await click(asked.turn);
    await heading('Turn');
    const bars = () => page.$$eval('svg.timeline .span', (spans) => spans.length);
    await page.waitForSelector('svg.timeline .span.wait');
    expect(await bars()).toBeGreaterThan(4);
    await click('Stop');
    const dialog = await page.waitForSelector('dialog[open] .danger');
    await dialog?.click();
    await page.waitForSelector("::-p-xpath(//dl//*[normalize-space()='Stopped'])");
    expect(faults).toEqual([]);
  });
}

if (firefox === undefined)
  suiteNotRun(NAME, 'there is no firefox-esr, and it was not installed: see the start of the run');
else describe(NAME, () => walk(firefox));
