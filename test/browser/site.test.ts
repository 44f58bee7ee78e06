import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isElsewhere, linksIn } from '../../infra/site/links.ts';
import { buildSite, installGenerator, SITE_FOLDER } from '../../infra/site/site.ts';
import { stagePages } from '../../infra/site/stage.ts';
import { type StaticSite, serveFolder } from '../harness/docs/static-site.ts';
import { describeInChromium, openPage } from '../harness/in-chromium.ts';
import { paced } from '../harness/pace.ts';
import { isFullSize } from '../harness/proof-size.ts';
import { axe, overflow, RULES_OF_LOOKS } from '../harness/widget/site-look.ts';

const BUILD_MS = paced(600_000);
const PAGES = [
  ...['/', '/concepts', '/recipes', '/compare', '/errors', '/configuration', '/http-api', '/connect'],
  ...['/agents', '/operations', '/chat-transport', '/reports', '/decisions', '/project/contributing'],
];
/** Not more than sideways scroll: the menu of a narrow page waits outside of the window. */
const sideways = async (page: Page) =>
  (await page.evaluate(overflow)).filter((fault) => fault.startsWith('scrolls sideways'));
const VIEWS = [
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 360, colorScheme: 'light' },
  { width: 360, colorScheme: 'dark' },
] as const;

it('the pages of the site lead to each other, and the calls of the API are described', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-site-'));
  stagePages(fileURLToPath(new URL('../../', import.meta.url)), folder);
  const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.md') && !name.startsWith('public'),
  );
  expect(pages).toEqual(expect.arrayContaining(['index.md', 'api.md', 'decisions.md', 'clients/sdk.md']));
  const missing = pages.flatMap((page) =>
    linksIn(readFileSync(join(folder, page), 'utf8'))
      .map(({ target }) => target)
      .filter((target) => !isElsewhere(target))
      .filter((target) => !existsSync(join(folder, dirname(page), target.replace(/#.*$/, ''))))
      .map((target) => `${page}: ${target}`),
  );
  expect(missing).toEqual([]);
  const { paths } = JSON.parse(readFileSync(join(folder, 'public/openapi.json'), 'utf8'));
  expect(Object.keys(paths)).toEqual(
    expect.arrayContaining(['/v1/elicitations', '/v1/admin/overview', '/run/api/chat', '/v1/accounts']),
  );
  rmSync(folder, { recursive: true });
});

// Building takes a minute, so that only a soak does it.
if (isFullSize) await describeInChromium('the built site', tests);

function tests(path: string): void {
  let browser: Browser;
  let site: StaticSite;

  beforeAll(async () => {
    await installGenerator((text) => void process.stdout.write(`${text}\n`));
    await buildSite();
    site = await serveFolder(SITE_FOLDER);
    browser = await chromium.launch({ executablePath: path });
  }, BUILD_MS);

  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  /** Uses a page of the site, and expects that it asked no other host for anything and threw nothing. */
  async function visit(
    view: { readonly width: number; readonly colorScheme: 'light' | 'dark' },
    use: (page: Page) => Promise<void>,
  ): Promise<void> {
    const { width, colorScheme } = view;
    const page = await openPage(browser, { viewport: { width, height: 900 }, colorScheme });
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('request', (request) => {
      if (!request.url().startsWith(`${site.origin}/`) && !/^(?:data|blob):/.test(request.url()))
        faults.push(request.url());
    });
    await use(page);
    expect(faults).toEqual([]);
    await page.close();
  }

  describe.each(VIEWS)('at $width px, $colorScheme', (view) => {
    // The structure of a page is the same in every width and colour.
    const rules = view === VIEWS[0] ? undefined : RULES_OF_LOOKS;

    it('shows its pages without violations or overflow, from its own files', () =>
      visit(view, async (page) => {
        const faults: string[] = [];
        for (const path of PAGES) {
          await page.goto(site.origin + path);
          await page.locator('.VPDoc h1').waitFor();
          const found = [...(await axe(page, rules)), ...(await sideways(page))];
          faults.push(...found.map((fault) => `${path}: ${fault}`));
        }
        expect(faults).toEqual([]);
      }));

    it('shows the calls of the API with a form to try one', () =>
      visit(view, async (page) => {
        await page.goto(`${site.origin}/api`);
        await page.locator('.opblock-summary-control').first().click();
        await page.locator('.try-out__btn').first().click();
        await page.locator('.btn.execute').waitFor();
        expect([...(await axe(page, rules)), ...(await sideways(page))]).toEqual([]);
      }));
  });

  it('calls the pod that the reader names, with the token', () =>
    visit(VIEWS[0], async (page) => {
      await page.goto(`${site.origin}/api`);
      // The site itself stands for a pod here: it is the one host that a page may call in this test.
      await page.getByLabel('Address of your pod').fill(`${site.origin}/`);
      await page.getByLabel('Token: of a person, or a service key').fill('a-token');
      await page.locator('.opblock-summary-control').first().click();
      await page.locator('.try-out__btn').first().click();
      const called = page.waitForRequest((request) => request.method() === 'POST');
      await page.locator('.btn.execute').click();
      const request = await called;
      expect(request.url()).toBe(`${site.origin}/v1/elicitations`);
      expect(request.headers()).toMatchObject({ authorization: 'Bearer a-token' });
    }));

  it('finds a word', () =>
    visit(VIEWS[0], async (page) => {
      await page.goto(site.origin);
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('searchbox').fill('already_settled');
      await page.locator('.result', { hasText: 'already_settled' }).first().click();
      await page.waitForURL(/\/errors#already_settled$/);
    }));

  it('serves its pages as Markdown, and lists them for programs', async () => {
    const list = await (await fetch(`${site.origin}/llms.txt`)).text();
    const links = [...list.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
    expect(links).toContain('concepts.md');
    for (const link of links) {
      const { status } = await fetch(`${site.origin}/${link}`);
      expect({ link, status }).toEqual({ link, status: 200 });
    }
  });
}
