import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { Browser, ConsoleMessage, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../../demo/chromium.ts';
import { LANGUAGES, type Language } from '../../services/api/src/http/headers/language.ts';
import { renderPage } from '../../services/api/src/pages/views/page.ts';
import type { PageView } from '../../services/api/src/pages/views/view.ts';
import { listenOnFreePort } from '../harness/free-port.ts';
import { describeInChromium, openPage } from '../harness/in-chromium.ts';
import { ANSWER_SAMPLES, SAMPLES } from '../harness/pages/connect-pages-views.ts';
import { isFullSize } from '../harness/proof-size.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { auditPage } from './connect-pages-audit.ts';

/** Messages received by the opener page so far. */
declare const messages: { data: unknown; origin: string }[];

const ALL_SAMPLES = { ...SAMPLES, ...ANSWER_SAMPLES };
const NONCE = 'bm9uY2Utbm9uY2Utbm9uY2U';
const LISTENER = `<!doctype html><p>listening</p>
<script>messages = []; addEventListener('message', ({ data, origin }) => messages.push({ data, origin }))</script>`;

interface Call {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly fields: Record<string, string>;
}

await describeInChromium('a hosted page in a browser', (chromium) => {
  let server: Server;
  let browser: Browser;
  /** The pages' own origin, and another one. */
  let ours: string;
  let other: string;
  const calls: Call[] = [];
  /** Replies by path, in addition to `/page/<language>/<sample>`. */
  const views = new Map<string, () => PageView>();

  beforeAll(async () => {
    server = createServer((req, res) => void answer(req, res));
    const port = await listenOnFreePort(server);
    ours = `http://127.0.0.1:${port}`;
    other = `http://localhost:${port}`;
    browser = await launchChromium(chromium);
  });
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    server?.close();
  });

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = req.url ?? '';
    const fields = Object.fromEntries(new URLSearchParams(await textOf(req)));
    calls.push({ method: req.method ?? '', path, headers: req.headers, fields });
    const [, language, sample = ''] = /^\/page\/(\w+)\/([\w-]+)$/u.exec(path) ?? [];
    const view = views.get(path)?.() ?? ALL_SAMPLES[sample];
    if (view !== undefined) return send(res, view, language === 'de' ? 'de' : 'en');
    // What an open page of the inbox asks for to follow what changes.
    if (path.startsWith('/auth/inbox')) return void res.writeHead(404).end();
    const framed = new URLSearchParams(path.split('?')[1]).get('frame');
    res.writeHead(200, { 'content-type': 'text/html' });
    res.end(framed === null ? LISTENER : `<!doctype html><iframe src="${framed}"></iframe>`);
  }

  function send(res: ServerResponse, view: PageView, language: Language): void {
    const page = renderPage(view, { language, nonce: NONCE, https: false, keepsOpener: true });
    res.writeHead(page.status, page.headers).end(page.html);
  }

  /** One page with scripts and one without: a new one costs as much as most of what a test does with it. */
  const pages = new Map<boolean, Page>();

  async function withPage(use: (page: Page) => Promise<void>, javaScriptEnabled = true): Promise<void> {
    const page = pages.get(javaScriptEnabled) ?? (await newPage(javaScriptEnabled));
    pages.set(javaScriptEnabled, page);
    await use(page);
    const others = page.context().pages();
    await Promise.all(others.map((other) => other !== page && other.close()));
  }

  const withoutScript = (use: (page: Page) => Promise<void>) => withPage(use, false);

  async function newPage(javaScriptEnabled: boolean): Promise<Page> {
    const opened = await openPage(browser, { javaScriptEnabled });
    // Samples link to example.com; no request of a test may leave the machine.
    await opened.context().route(
      ({ hostname }) => hostname !== '127.0.0.1' && hostname !== 'localhost',
      (route) => route.abort('aborted'),
    );
    return opened;
  }

  const callsTo = (path: string) => calls.filter((call) => call.path === path);
  // German has the longer words. Daily each page in one theme, in a soak in every language and theme.
  const NAMES = Object.keys(ALL_SAMPLES);
  const CASES = isFullSize
    ? LANGUAGES.flatMap((language) =>
        (['light', 'dark'] as const).map((colorScheme) => ({ language, colorScheme, names: NAMES })),
      )
    : (['light', 'dark'] as const).map((colorScheme, half) => ({
        language: 'de' as const,
        colorScheme,
        names: NAMES.filter((_, at) => at % 2 === half),
      }));

  it.each(CASES)(
    'is sound where there is little room: $language, $colorScheme',
    ({ language, colorScheme, names }) =>
      withPage(async (page) => {
        const faults: string[] = [];
        let at = '';
        const onConsole = (message: ConsoleMessage) => faults.push(`${at}: ${message.text()}`);
        const onError = (error: Error) => faults.push(`${at}: ${error.message}`);
        page.on('console', onConsole).on('pageerror', onError);
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 320, height: 640 });
        for (at of names) {
          // A page of status 4xx or 5xx logs one console line; a policy violation logs another.
          await page.goto(`${ours}/page/${language}/${at}`, { waitUntil: 'load' });
          faults.push(...(await page.evaluate(auditPage)).map((fault) => `${at}: ${fault}`));
        }
        page.off('console', onConsole).off('pageerror', onError);
        await page.emulateMedia({ colorScheme: null });
        await page.setViewportSize({ width: 1280, height: 720 });
        expect(faults.filter((fault) => !fault.includes('Failed to load resource'))).toEqual([]);
      }),
  );

  it('shows the keyboard focus', () =>
    withPage(async (page) => {
      await page.goto(`${ours}/page/en/consent-long`);
      const stops: string[] = [];
      for (let stop = 0; stop < 3; stop++) {
        await page.keyboard.press('Tab');
        stops.push(
          await page.evaluate(() => {
            const element = document.activeElement ?? document.body;
            const { outlineStyle, outlineWidth } = getComputedStyle(element);
            return `${element.tagName} ${outlineStyle} ${outlineWidth}`;
          }),
        );
      }
      expect(stops).toEqual(['BLOCKQUOTE solid 3px', 'BUTTON solid 3px', 'BUTTON solid 3px']);
    }));

  it('has no animation with reduced motion', () =>
    withPage(async (page) => {
      await page.goto(`${ours}/page/en/waiting`);
      const seen: string[] = [];
      for (const reducedMotion of ['no-preference', 'reduce'] as const) {
        await page.emulateMedia({ reducedMotion });
        const turning = page.locator('.turning svg');
        seen.push(await turning.evaluate((element) => getComputedStyle(element).animationName));
      }
      expect(seen).toEqual(['turn', 'none']);
    }));

  it('leads to another origin without script: the form post carries the origin, the new page gets no referrer', () =>
    withoutScript(async (page) => {
      const { proceed } = SAMPLES.consent as Extract<PageView, { page: 'consent' }>;
      const arrival = `${other}/arrived?state=abc`;
      views.set(proceed.action, () => ({ page: 'continue', url: arrival, origin: other }));
      await page.goto(`${ours}/page/en/consent`);
      await page.getByRole('button', { name: 'Continue to issues.example.com' }).click();
      await page.waitForURL(arrival);
      expect(callsTo(proceed.action)).toEqual([
        expect.objectContaining({
          method: 'POST',
          fields: { csrf: 'proceed-token' },
          headers: expect.objectContaining({
            origin: ours,
            'content-type': 'application/x-www-form-urlencoded',
          }),
        }),
      ]);
      expect(callsTo('/arrived?state=abc')[0]?.headers).not.toHaveProperty('referer');
    }));

  it('submits a secret with Enter, and a decline without one', () =>
    withoutScript(async (page) => {
      const view = SAMPLES.secret as Extract<PageView, { page: 'secret' }>;
      const action = `${view.proceed.action}/secret`;
      views.set('/page/en/secret-here', () => ({ ...view, proceed: { ...view.proceed, action } }));
      views.set(action, () => ({ ...view, fault: 'rejected' }));
      await page.goto(`${ours}/page/en/secret-here`);
      await page.getByLabel('API key').fill('s3cret & "more"');
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      expect(callsTo(action)[0]?.fields).toEqual({ csrf: 'proceed-token', secret: 's3cret & "more"' });
      expect(await page.getByLabel('API key').inputValue()).toBe('');
      expect(await page.content()).not.toContain('s3cret');
      await page.getByRole('button', { name: 'Decline' }).click();
      await waitUntil(() => callsTo(view.decline.action).length > 0, { what: 'the decline' });
      expect(callsTo(view.decline.action)[0]?.fields).toEqual({ csrf: 'decline-token' });
    }));

  it('takes the secret of an answer link out of the address, and posts it only after a click', () =>
    withPage(async (page) => {
      const { enter } = SAMPLES['answer-entry'] as Extract<PageView, { page: 'answer-entry' }>;
      const path = '/page/en/answer-entry';
      await page.goto(`${ours}${path}#a-link-token`);
      expect(page.url()).toBe(ours + path);
      expect(await page.getByLabel('Your link').isVisible()).toBe(false);
      expect(callsTo(enter.action)).toEqual([]);
      await page.getByRole('button', { name: 'Show the question' }).click();
      await waitUntil(() => callsTo(enter.action).length > 0, { what: 'the post' });
      expect(callsTo(enter.action)[0]?.fields).toEqual({ csrf: 'open-token', token: 'a-link-token' });
      expect(calls.every((call) => !JSON.stringify([call.path, call.headers]).includes('a-link-token'))).toBe(
        true,
      );
    }));

  it('takes a pasted link, and posts every kind of field, without script', () =>
    withoutScript(async (page) => {
      await page.goto(`${ours}/page/en/answer-entry#ignored`);
      expect(await page.getByLabel('Your link').isVisible()).toBe(true);
      const { proceed } = ANSWER_SAMPLES['answer-form'] as Extract<PageView, { page: 'answer' }>;
      await page.goto(`${ours}/page/en/answer-form`);
      await page.getByLabel('Full name').fill('Ada "A" <Lovelace>');
      await page.getByLabel('Email address').fill('ada@example.com');
      await page.getByRole('group', { name: 'Travel insurance' }).getByLabel('Yes').check();
      await page.getByLabel('vegan').check();
      await page.getByLabel('none').check();
      await page.getByLabel('country').selectOption('Country number 7');
      await page.getByRole('button', { name: 'Send answer' }).click();
      await waitUntil(() => callsTo(proceed.action).length > 0, { what: 'the post' });
      expect(callsTo(proceed.action)[0]?.fields).toMatchObject({
        csrf: 'accept-token',
        'field-0': 'Ada "A" <Lovelace>',
        'field-1': 'First line\r\nSecond line',
        'field-2': 'ada@example.com',
        'field-8': 'true',
        'field-10': '7',
        'field-11': '2',
      });
    }));

  it('reloads by itself while it waits', () =>
    withoutScript(async (page) => {
      const again = '/page/en/waiting-here';
      views.set(again, () =>
        callsTo(again).length < 2 ? { page: 'waiting', again } : { page: 'done', service: 'Issue tracker' },
      );
      await page.goto(ours + again);
      await page.getByRole('heading', { name: 'Issue tracker is connected' }).waitFor();
    }));

  describe('at the end', () => {
    async function openedFrom(opener: string, page: Page): Promise<Page> {
      const path = '/page/en/done-here';
      const tell = ['https://nobody.example', other];
      views.set(path, () => ({ page: 'done', service: 'Issue tracker', elicitationId: 'el_"<1>', tell }));
      await page.goto(`${opener}/listen`);
      const opened = page.waitForEvent('popup');
      await page.evaluate((url) => void window.open(url), ours + path);
      const popup = await opened;
      await popup.waitForLoadState();
      // Messages of one window keep their order: when this one has arrived, every earlier one has.
      await popup.evaluate(() => window.opener.postMessage('last', '*'));
      await waitUntil(async () => (await page.evaluate(() => messages)).some(({ data }) => data === 'last'), {
        what: 'the last message',
      });
      return popup;
    }

    it('sends only the id to the page that opened it', () =>
      withPage(async (page) => {
        await openedFrom(other, page);
        expect(await page.evaluate(() => messages)).toEqual([
          { data: 'el_"<1>', origin: ours },
          { data: 'last', origin: ours },
        ]);
      }));

    it('sends nothing to a page of another origin', () =>
      withPage(async (page) => {
        await openedFrom(ours, page);
        expect(await page.evaluate(() => messages)).toEqual([{ data: 'last', origin: ours }]);
      }));
  });

  it('cannot be framed [SEC-08]', () =>
    withPage(async (page) => {
      const framed = async (address: string) => {
        // A page counts as loaded when its frames are, even with the browser's error page in them.
        await page.goto(`${other}/?frame=${encodeURIComponent(address)}`, { waitUntil: 'load' });
        return page.frames()[1]?.locator('main, body > p').allInnerTexts();
      };
      expect(await framed(`${ours}/listen`)).toEqual(['listening']);
      for (const sample of ['consent', 'secret', 'done', 'continue', 'inbox', 'group']) {
        expect(await framed(`${ours}/page/en/${sample}`)).toEqual([]);
      }
    }));
});
