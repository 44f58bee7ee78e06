import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { launchChromium } from '../../../infra/demo/chromium.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { widgetBuild } from './site-build.ts';
import { openGallery } from './site-gallery.ts';
import { axe, overflow } from './site-look.ts';

// A browser is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

await describeInChromium('the gallery', (chromium) => {
  let folder: string;
  let browser: Browser;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-gallery-'));
    const { buildGallery } = await widgetBuild();
    [browser] = await Promise.all([launchChromium(chromium), buildGallery(folder)]);
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function withGallery(query: string, use: (page: Page) => Promise<void>): Promise<void> {
    const page = await browser.newPage({ locale: 'en-US', timezoneId: 'Europe/Berlin' });
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('dialog', (dialog) => {
      faults.push(`said ${dialog.message()}`);
      void dialog.dismiss();
    });
    try {
      await openGallery(page, folder, query);
      await use(page);
      expect(faults).toEqual([]);
    } finally {
      await page.close();
    }
  }

  it.each(['theme=light', 'theme=dark', 'theme=light&lang=de&dir=rtl'])(
    'shows all states without axe violations or overflow: %s',
    (query) =>
      withGallery(query, async (page) => {
        const states = await page
          .locator('elicitation-card')
          .evaluateAll((cards) => cards.map((card) => card.getAttribute('data-state')));
        expect(new Set(states)).toEqual(new Set(STATES));
        await untilApprovals(page);
        for (const width of [360, 1280]) {
          // All of it in view: buttons that stick to a window's edge would cover what happens to lie there.
          await page.setViewportSize({ width, height: 800 });
          const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
          await page.setViewportSize({ width, height });
          expect(await page.evaluate(overflow)).toEqual([]);
          expect(await axe(page)).toEqual([]);
        }
      }),
  );

  it('warns of every kind of URL, and opens none that is not http or https', () =>
    withGallery('', async (page) => {
      const cards = page.locator('#addresses-to-look-at-twice elicitation-card');
      const warnings = await cards.evaluateAll((all) =>
        all.map((card) => card.shadowRoot?.querySelectorAll('[part=warning] p').length ?? 0),
      );
      const links = await cards.evaluateAll((all) =>
        all.map((card) => card.shadowRoot?.querySelectorAll('a').length ?? 0),
      );
      expect([warnings.slice(0, 4).every((count) => count > 0), links]).toEqual([
        true,
        [1, 1, 1, 1, 1, 0, 0],
      ]);
      const hostile = page.locator('#hostile-input elicitation-card').locator('a, img, script, iframe');
      expect(await hostile.count()).toBe(0);
    }));
});

/** Waits until the cards of approvals are as their labels say: their buttons work once they have been in view. */
async function untilApprovals(page: Page): Promise<void> {
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  await page.setViewportSize({ width: 1280, height });
  const statesOf = () =>
    page
      .locator('approval-card')
      .evaluateAll((cards) => cards.map((card) => card.getAttribute('data-state')));
  await expect.poll(async () => new Set(await statesOf())).toEqual(new Set(APPROVAL_STATES));
}

const APPROVAL_STATES = [
  ...['pending', 'sending', 'refused', 'elsewhere', 'gone'],
  ...['approved', 'edited', 'denied', 'expired', 'withdrawn'],
];
const STATES = [
  ...['loading', 'pending', 'opened', 'sending', 'refused', 'offline', 'accepted', 'declined', 'cancelled'],
  ...['expired', 'withdrawn', 'elsewhere', 'gone'],
];
