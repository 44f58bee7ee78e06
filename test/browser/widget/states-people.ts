import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { GERMAN } from '../../../clients/widget/src/strings/de.ts';
import { ENGLISH } from '../../../clients/widget/src/strings/en.ts';
import type { Site, WithPerson } from '../../harness/widget/site.ts';
import {
  awake,
  button,
  cardIn,
  focused,
  part,
  reads,
  spoken,
  tabTo,
} from '../../harness/widget/site-card.ts';
import { axe, overflow } from '../../harness/widget/site-look.ts';
import { isAnswerTo, isLook } from '../../harness/widget/site-pages.ts';
import { TRIP_QUESTION } from './states-form.ts';
import { CONNECT_QUESTION } from './states-url.ts';

declare const show: (card: object) => void;
declare const handOver: (path: string, ids: readonly string[]) => void;
const HOUR_MS = 3_600_000;

/** What people need: keys alone, words for who listens, time by the server's clock, their language, their settings. */
export function forPeople(site: () => Site, withPerson: WithPerson): void {
  it('accepts an answer by keyboard alone, and shows the focus', () =>
    withPerson(async (ada) => {
      const { id, outcome } = await ada.ask(TRIP_QUESTION);
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'pending');
      await tabTo(page, 'Name');
      await page.keyboard.type('Grace');
      await page.keyboard.press('Escape');
      await tabTo(page, 'First');
      await page.keyboard.press('Space');
      await tabTo(page, 'Send');
      await page.keyboard.press('Enter');
      await cardIn(page, 'accepted');
      expect(await outcome).toMatchObject({ content: { name: 'Grace', seats: 1, class: '1' } });
      // What had the focus is gone, so it is where the card begins.
      expect(await focused(page)).toEqual({ name: 'Which trip?', seen: true });
    }));

  it('focuses the first missing field, then the next', () =>
    withPerson(async (ada) => {
      const { id } = await ada.ask(TRIP_QUESTION);
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'pending');
      await tabTo(page, 'Send');
      await page.keyboard.press('Space');
      await page.keyboard.press('Space');
      expect(await page.getByRole('radio', { name: 'First' }).isChecked()).toBe(true);
      await tabTo(page, 'Send');
      await page.keyboard.press('Space');
      await cardIn(page, 'accepted');
    }));

  it('appears without taking the focus, and is announced', () =>
    withPerson(async (ada) => {
      const page = await ada.open();
      await page.getByLabel('Message').focus();
      await page.keyboard.type('hel');
      const { id } = await ada.ask(TRIP_QUESTION);
      const load = site().pages.hold(isLook);
      await page.evaluate((elicitationId) => show({ elicitationId }), id);
      await cardIn(page, 'loading');
      // A live region has to be there, and empty, before it is filled.
      expect(await spoken(page).textContent()).toBe('');
      load();
      await cardIn(page, 'pending');
      await reads(spoken(page), ENGLISH.arrived('Travel planner'));
      await page.keyboard.type('lo');
      expect(await page.getByLabel('Message').inputValue()).toBe('hello');
      await site().service.withdraw(id, 'run_stopped');
      await cardIn(page, 'withdrawn');
      expect((await focused(page)).name).toBe('Message');
    }));

  it('announces when little time remains', () =>
    withPerson(async (ada) => {
      const { id } = await ada.ask(TRIP_QUESTION);
      await ada.context.clock.install();
      const page = await ada.open({ ids: [id] });
      await cardIn(page, 'pending');
      await reads(spoken(page), ENGLISH.arrived('Travel planner'));
      await page.clock.fastForward(5.2 * 60_000);
      await reads(spoken(page), ENGLISH.timeLeft(300_000));
      await page.clock.fastForward(4 * 60_000);
      await reads(spoken(page), ENGLISH.timeLeft(60_000));
    }, {}));

  it('counts down by the server’s clock on a machine whose clock is two hours off', () =>
    withPerson(async (ada) => {
      const page = await ada.open();
      for (const hours of [-2, 2]) {
        await page.evaluate(shiftClock, hours * HOUR_MS);
        const offMs = (await page.evaluate(() => Date.now())) - Date.now();
        expect(Math.round(offMs / HOUR_MS)).toBe(hours);
        const { id } = await ada.ask({ ...TRIP_QUESTION, timeoutSeconds: 3 * 3_600 });
        await page.evaluate((ids) => handOver(location.pathname, ids), [id]);
        await cardIn(page, 'pending');
        const aboutThreeHours = /^[23] hours left$/u;
        await reads(part(page, 'countdown'), aboutThreeHours);
        const short = await ada.ask({ ...TRIP_QUESTION, timeoutSeconds: 2 });
        await page.evaluate((elicitationId) => show({ elicitationId }), short.id);
        const expired = ENGLISH.ended({ status: 'expired', mode: 'form', here: true, reason: undefined });
        await reads(await cardIn(page, 'expired'), expired);
        expect((await site().service.get(short.id)).status).toBe('expired');
        await reads(part(page, 'countdown').first(), aboutThreeHours);
      }
    }, {}));

  it('is shown in German, and from right to left', () =>
    withPerson(async (ada) => {
      const { url } = site().bank.newPage();
      const [form, link] = [await ada.ask(TRIP_QUESTION), await ada.ask({ ...CONNECT_QUESTION, url })];
      const page = await ada.open({ ids: [form.id, link.id], lang: 'de', dir: 'rtl' });
      await page.getByText(GERMAN.asks('Travel planner'), { exact: true }).first().waitFor();
      await awake(page);
      const boxOf = async (name: string) => (await button(page, name).first().boundingBox())?.x ?? Number.NaN;
      expect(await boxOf(GERMAN.send)).toBeGreaterThan(await boxOf(GERMAN.decline));
      const directions = await page
        .locator('elicitation-card :is([part=card], code)')
        .evaluateAll((elements) => elements.map((element) => getComputedStyle(element).direction));
      expect(directions).toEqual(['rtl', 'rtl', 'ltr']);
      await page.setViewportSize({ width: 640, height: 800 });
      await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
      expect(await page.evaluate(overflow)).toEqual([]);
      await page.getByRole('radio', { name: 'First' }).check();
      await button(page, GERMAN.send).click();
      const words = GERMAN.ended({ status: 'accepted', mode: 'form', here: true, reason: undefined });
      await page.locator('[part=status]', { hasText: words }).waitFor();
    }));

  it('respects reduced motion and forced colours', () =>
    withPerson(async (ada) => {
      const { url } = site().bank.newPage();
      const [form, link] = [await ada.ask(TRIP_QUESTION), await ada.ask({ ...CONNECT_QUESTION, url })];
      const read = site().pages.hold(isLook);
      const page = await ada.open({ ids: [form.id, link.id] });
      await page.locator('elicitation-card[data-state=loading]').first().waitFor();
      await page.emulateMedia({ reducedMotion: 'no-preference' });
      expect(await moving(page)).toBeGreaterThan(0);
      await page.emulateMedia({ reducedMotion: 'reduce' });
      expect(await moving(page)).toBe(0);
      read();
      await awake(page);
      const send = site().pages.hold(isAnswerTo(form.id));
      await page.getByRole('radio', { name: 'First' }).check();
      await button(page, 'Send').click();
      await cardIn(page, 'sending');
      await page.emulateMedia({ forcedColors: 'active' });
      const [[card], [primary], [decline]] = await Promise.all([
        edges(page, '[part=card]'),
        edges(page, '[part=primary]'),
        edges(page, '[part=decline]'),
      ]);
      expect([card, decline]).toEqual([1, 1]);
      // Without its background, only its border distinguishes it from the others.
      expect(primary).toBeGreaterThan(1);
      expect(await axe(page)).toEqual([]);
      send();
      await cardIn(page, 'accepted');
    }));
}

/** Runs in a page: its machine's clock is wrong from now on. */
function shiftClock(byMs: number): void {
  const page = globalThis as unknown as { RealDate?: DateConstructor };
  page.RealDate ??= Date;
  const Real = page.RealDate;
  globalThis.Date = class extends Real {
    constructor(...parts: ConstructorParameters<typeof Real> | []) {
      if (parts.length === 0) super(Real.now() + byMs);
      else super(...(parts as ConstructorParameters<typeof Real>));
    }
    static override now(): number {
      return Real.now() + byMs;
    }
  } as DateConstructor;
}

/** How many things move in the cards of a page. */
function moving(page: Page): Promise<number> {
  // A document does not name what moves within its shadow trees.
  return page.locator('elicitation-card').evaluateAll((cards) => {
    const animations = cards.flatMap(({ shadowRoot }) => shadowRoot?.getAnimations() ?? []);
    return animations.filter(({ playState }) => playState === 'running').length;
  });
}

/** How wide the drawn edges of parts are, in px. */
function edges(page: Page, selector: string): Promise<number[]> {
  return page.locator(`elicitation-card ${selector}`).evaluateAll((elements) =>
    elements.map((element) => {
      const { borderTopWidth, borderTopStyle } = getComputedStyle(element);
      return borderTopStyle === 'solid' ? Number.parseFloat(borderTopWidth) : 0;
    }),
  );
}
