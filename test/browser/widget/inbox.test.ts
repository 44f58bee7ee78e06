import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { COLOUR_FORM } from '../../harness/sdk/setup.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { adapters } from './inbox-adapters.ts';
import { type Person, type Site, startSite } from './inbox-site.ts';

// Pods and a browser are slow on a busy machine.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const linesOf = (page: Page) => page.locator('elicitation-inbox [part=item]');
const lineOf = (page: Page, name: string) => linesOf(page).filter({ hasText: name });
const chipOf = (page: Page) => page.locator('elicitation-inbox [part=chip]');
const spokenOf = (page: Page) => page.locator('elicitation-inbox .spoken');

/** Waits until an element of a page has the expected text. */
async function reads(what: { innerText(): Promise<string> }, expected: string | RegExp): Promise<void> {
  await waitUntil(
    async () => {
      const text = await what.innerText();
      return typeof expected === 'string' ? text === expected : expected.test(text);
    },
    { what: `the text ${expected}`, timeoutMs: 30_000 },
  );
}

async function namesAre(page: Page, expected: readonly string[]): Promise<void> {
  // The card inside a line has parts of the same name.
  const names = () => linesOf(page).locator('[part=disclosure] > [part=title]').allInnerTexts();
  const are = async () => JSON.stringify(await names()) === JSON.stringify(expected);
  await waitUntil(are, { what: 'the lines', timeoutMs: 30_000 }).catch(() => undefined);
  expect(await names()).toEqual(expected);
}

/** The violations that axe finds, one line for each element. */
async function axe(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { run } = (globalThis as unknown as { axe: typeof import('axe-core') }).axe;
    const { violations } = await run(document);
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 300)}`));
  });
}

const colour = (title: string, more: object = {}) => ({ title, requestedSchema: COLOUR_FORM, ...more });
const page = (title: string) => ({
  title,
  mode: 'url',
  url: 'https://accounts.example.com/authorize?scope=read',
});

await describeInChromium('the inbox', (chromium) => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite(chromium);
  });
  afterAll(async () => {
    await site?.stop();
  });

  async function withPerson(use: (person: Person) => Promise<void>, options = {}): Promise<void> {
    const person = await site.person(options);
    try {
      await use(person);
      expect(person.faults).toEqual([]);
    } finally {
      await person.context.close();
    }
  }

  it('shows the open questions of all conversations, newest first, also after a reload', () =>
    withPerson(async (ada) => {
      const grace = await site.person();
      await grace.ask(colour('Not for Ada'));
      await grace.context.close();
      await ada.ask(
        colour('Paint the door', {
          conversationId: 'chat-1',
          context: { agent: 'Painter' },
          timeoutSeconds: 86_400,
        }),
      );
      await ada.ask({ ...page('Connect Issues'), conversationId: 'chat-2' });
      await ada.ask({ message: '<img src=x onerror=alert(1)>\nWhich one?', requestedSchema: COLOUR_FORM });
      const tab = await ada.open();
      const names = ['<img src=x onerror=alert(1)> Which one?', 'Connect Issues', 'Paint the door'];
      await namesAre(tab, names);
      expect(await chipOf(tab).innerText()).toBe('3 waiting');
      expect(await tab.locator('output').innerText()).toBe('3 for you');
      await reads(tab.locator('elicitation-inbox [part=connection]'), 'Up to date');
      const about = lineOf(tab, 'Paint the door').locator('[part=about]');
      expect(await about.locator('[part=agent]').innerText()).toBe('Asked by Painter');
      expect(await about.locator('[part=age]').innerText()).toMatch(/^(just now|\d+ minutes? ago)$/);
      expect(await about.locator('[part=deadline]').innerText()).toMatch(/^2[34] hours left$/);
      await tab.reload();
      await namesAre(tab, names);
    }));

  it('is never covered by the buttons of a card below it', () =>
    withPerson(async (ada) => {
      const { elicitationId: id } = await ada.ask(colour('Paint the door'));
      const tab = await ada.open();
      await namesAre(tab, ['Paint the door']);
      // A page that puts the inbox over a long card, whose buttons stick to the edge of the window.
      const covering = await tab.evaluate(async (elicitationId) => {
        const inbox = document.querySelector('elicitation-inbox');
        const card = document.createElement('elicitation-card');
        Object.assign(card, { server: inbox?.server, elicitationId });
        card.style.cssText = 'position: absolute; inset: auto 0 0 0';
        document.body.prepend(card);
        if (inbox) inbox.style.cssText = 'position: fixed; inset: auto 0 0 0; height: 20rem';
        const drawn = () => new Promise(requestAnimationFrame);
        while (card.dataset.state !== 'pending') await drawn();
        const { x, y } = card.shadowRoot?.querySelector('.actions')?.getBoundingClientRect() ?? new DOMRect();
        return document.elementFromPoint(x + 5, y + 5)?.localName;
      }, id);
      expect(covering).toBe('elicitation-inbox');
    }));

  it('agrees in two tabs: a question that is answered in one disappears from the other, after a note', () =>
    withPerson(async (ada) => {
      const asked = await ada.ask(colour('Paint the door', { conversationId: 'chat-1' }));
      await ada.ask(colour('Paint the fence', { conversationId: 'chat-2' }));
      const [here, there] = [await ada.open(), await ada.open()];
      await reads(chipOf(there), '2 waiting');
      await lineOf(here, 'Paint the door').getByRole('button', { name: 'Paint the door' }).click();
      await here.getByRole('radio', { name: 'blue' }).check();
      await here.getByRole('button', { name: 'Send' }).click();
      for (const tab of [here, there]) await reads(chipOf(tab), '1 waiting');
      await reads(lineOf(here, 'Paint the door').locator('[part=note]'), 'Your answer was sent.');
      await reads(spokenOf(there), 'Paint the door: This was answered somewhere else.');
      await namesAre(there, ['Paint the fence']);
      expect(await ada.read(asked.elicitationId)).toMatchObject({
        status: 'accepted',
        content: { colour: 'blue' },
      });
      // The focus is in this line, which therefore stays until it is elsewhere.
      await namesAre(here, ['Paint the fence', 'Paint the door']);
      expect(await here.evaluate(() => document.activeElement?.localName)).toBe('elicitation-inbox');
      await here.getByRole('button', { name: 'Elsewhere' }).click();
      await namesAre(here, ['Paint the fence']);
      expect(await here.evaluate(() => document.activeElement?.textContent)).toBe('Elsewhere');
    }));

  it('announces new questions politely, but not those of its first list', () =>
    withPerson(async (ada) => {
      await ada.ask(colour('Paint the door'));
      const tab = await ada.open();
      await namesAre(tab, ['Paint the door']);
      expect(await spokenOf(tab).getAttribute('role')).toBe('status');
      expect(await spokenOf(tab).textContent()).toBe('');
      const { elicitationId } = await ada.ask(colour('Paint the fence', { context: { agent: 'Painter' } }));
      await reads(spokenOf(tab), 'New question from Painter');
      await reads(chipOf(tab), '2 waiting');
      expect(await tab.evaluate(() => document.activeElement?.localName)).toBe('body');
      await ada.withdraw(elicitationId);
      await reads(spokenOf(tab), 'Paint the fence: This is not needed any more.');
      await namesAre(tab, ['Paint the door']);
    }));

  it('works by keyboard alone, and keeps typed values when a line is folded', () =>
    withPerson(async (ada) => {
      await ada.ask(colour('Paint the door'));
      const tab = await ada.open({ body: '<elicitation-inbox collapsed></elicitation-inbox>' });
      await reads(chipOf(tab), '1 waiting');
      expect(await linesOf(tab).isVisible()).toBe(false);
      const press = async (...keys: string[]) => {
        for (const key of keys) await tab.keyboard.press(key);
      };
      await press('Tab', 'Tab', 'Enter', 'Tab', 'Enter');
      await tab.locator('elicitation-card[data-state=pending]').waitFor();
      await press('Tab', 'Space', 'Tab');
      await tab.keyboard.type('two coats');
      const noteField = tab.locator('elicitation-card').getByRole('textbox');
      expect(await noteField.inputValue()).toBe('two coats');
      await press('Shift+Tab', 'Shift+Tab', 'Enter');
      expect(await noteField.isVisible()).toBe(false);
      expect(await lineOf(tab, 'Paint the door').getByRole('button').getAttribute('aria-expanded')).toBe(
        'false',
      );
      await press('Enter');
      expect(await noteField.inputValue()).toBe('two coats');
      expect(await tab.getByRole('radio', { name: 'red' }).isChecked()).toBe(true);
      await press('Shift+Tab', 'Enter');
      expect([await linesOf(tab).isVisible(), await chipOf(tab).getAttribute('aria-expanded')]).toEqual([
        false,
        'false',
      ]);
    }));

  it('shows that it is offline, and catches up when it is back', () =>
    withPerson(async (ada) => {
      const tab = await ada.open();
      await reads(tab.locator('elicitation-inbox [part=empty]'), 'Nothing is waiting for you.');
      const connection = tab.locator('elicitation-inbox [part=connection]');
      await ada.context.setOffline(true);
      await reads(connection, 'No connection; trying again');
      // A poll that was under way may succeed yet: then it is offline, and announced, a second time, with a space that makes
      // the text a new one.
      await reads(spokenOf(tab), /^No connection; trying again\s?$/u);
      await ada.ask(colour('Paint the door'));
      await ada.context.setOffline(false);
      await namesAre(tab, ['Paint the door']);
      await reads(connection, 'Up to date');
      ada.faults.length = 0;
    }));

  it.each(['light', 'dark'] as const)('has no axe violations: %s', (colorScheme) =>
    withPerson(
      async (ada) => {
        const tab = await ada.open();
        await tab.setViewportSize({ width: 320, height: 800 });
        await tab.locator('elicitation-inbox [part=empty]').waitFor();
        expect(await axe(tab)).toEqual([]);
        const gone = await ada.ask(colour('Paint the door'));
        await ada.ask(colour('Paint the fence', { context: { agent: 'Painter' } }));
        await ada.ask(page('Connect Issues'));
        await reads(chipOf(tab), '3 waiting');
        for (const name of ['Paint the fence', 'Connect Issues']) {
          await lineOf(tab, name).getByRole('button', { name }).click();
        }
        await tab.locator('elicitation-card[data-state=pending]').nth(1).waitFor();
        await ada.withdraw(gone.elicitationId);
        await lineOf(tab, 'Paint the door').locator('[part=note]').waitFor();
        expect(await axe(tab)).toEqual([]);
        const wide = await tab.evaluate(() => document.documentElement.scrollWidth);
        expect(wide).toBeLessThanOrEqual(320);
      },
      { colorScheme },
    ),
  );

  it('uses the language of its ancestor, and texts of the page', () =>
    withPerson(async (ada) => {
      await ada.ask(colour('Die Tür'));
      const tab = await ada.open({ body: '<div lang="de"><elicitation-inbox></elicitation-inbox></div>' });
      await reads(chipOf(tab), '1 wartet');
      await tab.evaluate(() => {
        const inbox = document.querySelector('elicitation-inbox');
        if (inbox) Object.assign(inbox, { strings: { waiting: (count: number) => `${count}!` } });
      });
      await reads(chipOf(tab), '1!');
    }));

  adapters(() => site, withPerson);
});
