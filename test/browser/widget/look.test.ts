import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApprovalCard } from '../../../clients/widget/src/approvals.ts';
import { launchChromium } from '../../../demo/chromium.ts';
import { describeInChromium, openPage } from '../../harness/in-chromium.ts';
import { widgetBuild } from '../../harness/widget/site-build.ts';
import { openGallery } from '../../harness/widget/site-gallery.ts';
import { listenForShortcuts } from '../../harness/widget/site-keys.ts';
import { axe, NARROW, overflow, RULES_OF_LOOKS } from '../../harness/widget/site-look.ts';

const WIDE = 1280;

await describeInChromium('the gallery', (chromium) => {
  let folder: string;
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'parley-gallery-'));
    const { buildGallery } = await widgetBuild();
    [browser] = await Promise.all([launchChromium(chromium), buildGallery(folder)]);
    page = await openPage(browser, { locale: 'en-US', timezoneId: 'Europe/Berlin' });
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('dialog', (dialog) => {
      faults.push(`said ${dialog.message()}`);
      void dialog.dismiss();
    });
  });
  afterAll(async () => {
    await browser?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Opens the gallery, or, without a query, goes on with what the test before left: opening it is most of what a test costs. */
  async function withGallery(query: string | undefined, use: () => Promise<void>): Promise<void> {
    await page.setViewportSize({ width: WIDE, height: 720 });
    // Nothing was left where this test runs alone.
    if (query !== undefined || page.url() === 'about:blank') await openGallery(page, folder, query ?? '');
    await use();
    expect(faults.splice(0)).toEqual([]);
  }

  // A colour is the same in every width, language and direction, a size in every colour, and the structure in all looks.
  // The language of the tests after this is the last one's.
  it.each([
    ['theme=dark&lang=de&dir=rtl', NARROW, RULES_OF_LOOKS],
    ['theme=light', WIDE, undefined],
  ] as const)('shows all states without axe violations or overflow: %s', (query, judged, rules) =>
    withGallery(query, async () => {
      const states = await page
        .locator('elicitation-card')
        .evaluateAll((cards) => cards.map((card) => card.getAttribute('data-state')));
      expect(new Set(states)).toEqual(new Set(STATES));
      await untilApprovals(page);
      for (const width of [WIDE, NARROW]) {
        // In a low window no buttons stick to the edge, where they would cover what happens to lie there.
        await page.setViewportSize({ width, height: 400 });
        expect(await page.evaluate(overflow)).toEqual([]);
        if (width === judged) expect(await axe(page, rules)).toEqual([]);
      }
    }),
  );

  it('warns of every kind of URL, and opens none that is not http or https', () =>
    withGallery(undefined, async () => {
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

  it('lets a call be approved once its own button has been in view, wherever the other buttons are', () =>
    withGallery(undefined, async () => {
      // No two calls fit into the window.
      await page.setViewportSize({ width: NARROW, height: 240 });
      const card = page.locator('approval-card', { hasText: 'B-1043' }).first();
      const approve = (at: number) => card.locator('.call').nth(at).locator('[part=primary]');
      const isOff = (at: number) => approve(at).getAttribute('aria-disabled');
      // The gallery scrolls to its top once its other cards are in their states.
      const untilReady = (at: number) =>
        expect
          .poll(
            () =>
              approve(at)
                .scrollIntoViewIfNeeded()
                .then(() => isOff(at)),
            { interval: 250 },
          )
          .toBe('false');
      await untilReady(0);
      expect([
        await isOff(1),
        await card.locator('.all [part=primary]').getAttribute('aria-disabled'),
      ]).toEqual(['true', 'true']);
      await approve(1).dispatchEvent('click');
      await card.getByText('Please check the call first.').waitFor({ state: 'attached' });
      await untilReady(1);
      expect(await isOff(0)).toBe('true');
      await approve(1).click();
      await card.locator('.call[data-state=approved]', { hasText: 'B-1043' }).waitFor();
      expect(await card.locator('.call[data-state=pending]').count()).toBe(2);
    }));

  it('lets all calls be approved once their button has been in view with these calls, and no others', () =>
    withGallery(undefined, async () => {
      await page.setViewportSize({ width: WIDE, height: 2_000 });
      const card = page.locator('approval-card', { hasText: 'B-1043' }).first();
      const all = card.locator('.all [part=primary]');
      const isOff = () => all.getAttribute('aria-disabled');
      await expect.poll(() => all.scrollIntoViewIfNeeded().then(isOff), { interval: 250 }).toBe('false');
      const pending = card.locator('.call[data-state=pending]');
      const before = await pending.count();
      // As a call that arrives while the person moves to the button.
      await card.evaluate(async (element: ApprovalCard) => {
        const [first] = element.approvals ?? [];
        if (first !== undefined)
          element.approvals = [...(element.approvals ?? []), { ...first, approvalId: 'late' }];
        await element.updateComplete;
        element.shadowRoot?.querySelector<HTMLElement>('.all [part=primary]')?.click();
      });
      await card.getByText('Please check the call first.').waitFor({ state: 'attached' });
      expect(await pending.count()).toBe(before + 1);
      await expect.poll(isOff).toBe('false');
      await card.evaluate((element: ApprovalCard) => {
        element.approvals = element.approvals?.filter(({ approvalId }) => approvalId !== 'late');
      });
    }));

  it('shows that an approval could not be revoked, and keeps the focus at its place in the list', () =>
    withGallery(undefined, async () => {
      await page.evaluate(() => {
        const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
        let grants = ['read', 'pay', 'send'].map((tool) => {
          return { grantId: tool, agent: 'Travel desk', server: 'bank', tool, expiresAt };
        });
        let isDown = true;
        const list = document.createElement('remembered-approvals');
        list.server = {
          listRemembered: () => Promise.resolve(grants),
          revokeRemembered(id: string) {
            if (isDown) {
              isDown = false;
              return Promise.reject(Object.assign(new Error('offline'), { code: 'offline' }));
            }
            grants = grants.filter(({ grantId }) => grantId !== id);
            return Promise.resolve();
          },
        } as unknown as NonNullable<typeof list.server>;
        document.body.prepend(list);
      });
      const list = page.locator('remembered-approvals');
      const focused = () =>
        list.evaluate(({ shadowRoot }) => shadowRoot?.activeElement?.closest('li')?.dataset.id);
      const revoke = (tool: string) => list.locator(`li[data-id=${tool}] [part=revoke]`).click();
      const failure = list.locator('[part=status]');
      await revoke('pay');
      await failure.waitFor();
      await expect.poll(focused).toBe('pay');
      expect(await failure.innerText()).toBe(await list.getByRole('status').innerText());
      await revoke('pay');
      await list.getByText('pay is asked about again').waitFor({ state: 'attached' });
      await expect.poll(focused).toBe('send');
      expect(await failure.count()).toBe(0);
      await revoke('send');
      await expect.poll(focused).toBe('read');
    }));

  it('closes with Escape what is open in the same call, and sends no reason that is not shown', () =>
    withGallery(undefined, async () => {
      const card = page.locator('approval-card', { hasText: 'B-1043' }).first();
      // The test before may have decided one.
      const calls = card.locator('.call[data-state=pending]');
      const open = await calls.count();
      expect(open).toBeGreaterThan(1);
      for (const at of [0, 1]) {
        await calls.nth(at).locator('[part=deny]').click();
        await calls.nth(at).locator('[part=reason]').fill(`Reason ${at}`);
      }
      await page.keyboard.press('Escape');
      await calls.nth(1).locator('[part=reason]').waitFor({ state: 'detached' });
      expect(await calls.nth(0).locator('[part=reason]').inputValue()).toBe('Reason 0');
      await calls.nth(0).locator('[part=cancel]').click();
      await card.locator('.all [part=deny]').click();
      await expect.poll(() => card.locator('.call[data-state=denied]').count()).toBe(open);
      expect(await card.getByText(/Reason \d/u).count()).toBe(0);
    }));

  it('keeps what is typed into its fields from the shortcuts of the page', () =>
    withGallery('', async () => {
      const heard = await listenForShortcuts(page);
      const pending = page.locator('approval-card[data-state=pending]').first();
      const form = page.locator('elicitation-card[data-state=pending]').first();
      const fields = {
        text: form.locator('.entry').first(),
        radio: page.locator('elicitation-card[data-state=pending] [type=radio]').first(),
        argument: pending.locator('.form .entry').first(),
        reason: pending.locator('[part=reason]').first(),
      };
      for (const [name, field] of Object.entries(fields)) {
        if (name === 'argument') await pending.locator('[part=edit]').first().click();
        if (name === 'reason') {
          await pending.locator('[part=cancel]').first().click();
          await pending.locator('[part=deny]').first().click();
        }
        await field.focus();
        await heard();
        if (name === 'text') {
          await page.keyboard.press('Escape');
          expect(await heard()).toContain('keydown Escape');
        }
        await page.keyboard.type('/k ');
        await page.keyboard.press('ArrowDown');
        await field.evaluate((one) =>
          one.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, composed: true })),
        );
        expect([name, await heard()]).toEqual([name, []]);
        // The page may close a dialog around the card, or hold the focus in it.
        await page.keyboard.press('Tab');
        expect(await heard()).toContain('keydown Tab');
        // A dialog that closed would take what was typed with it.
        await field.press('Escape');
        expect(await heard()).not.toContain('keydown Escape');
      }
      await form.locator('.primary').focus();
      await page.keyboard.press('k');
      expect(await heard()).toContain('keydown k');
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
  const isSo = async () => new Set(await statesOf());
  await expect.poll(isSo, { interval: 250 }).toEqual(new Set(APPROVAL_STATES));
}

const APPROVAL_STATES = [
  ...['pending', 'sending', 'refused', 'elsewhere', 'gone'],
  ...['approved', 'edited', 'denied', 'expired', 'withdrawn'],
];
const STATES = [
  ...['loading', 'pending', 'opened', 'sending', 'refused', 'offline', 'accepted', 'declined', 'cancelled'],
  ...['expired', 'withdrawn', 'elsewhere', 'gone'],
];
