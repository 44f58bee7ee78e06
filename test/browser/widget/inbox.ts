import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { COLOUR_FORM } from '../../harness/sdk/setup.ts';
import type { Asks, Person, Site, WithPerson } from '../../harness/widget/site.ts';
import { reads } from '../../harness/widget/site-card.ts';
import { listenForShortcuts } from '../../harness/widget/site-keys.ts';
import { axe, NARROW, overflow, RULES_OF_LOOKS } from '../../harness/widget/site-look.ts';

const INBOX_BODY = '<elicitation-inbox></elicitation-inbox>';
const INBOX_SCRIPT = `
  import { createElicitationServer } from '/files/elicitation-server.js';
  import '/files/elicitation-inbox.js';
  const inbox = document.querySelector('elicitation-inbox');
  inbox.addEventListener('elicitation-inbox-change', ({ detail }) => {
    document.querySelector('output').textContent = detail.waiting + ' for you';
  });
  inbox.server = createElicitationServer(access);
`;

const openInbox = (person: Person, body = INBOX_BODY) => person.visit({ body, script: INBOX_SCRIPT });

const linesOf = (page: Page) => page.locator('elicitation-inbox [part=item]');
const lineOf = (page: Page, name: string) => linesOf(page).filter({ hasText: name });
const chipOf = (page: Page) => page.locator('elicitation-inbox [part=chip]');
const spokenOf = (page: Page) => page.locator('elicitation-inbox .spoken');

async function namesAre(page: Page, expected: readonly string[]): Promise<void> {
  // The card inside a line has parts of the same name.
  const names = () => linesOf(page).locator('[part=disclosure] > [part=title]').allInnerTexts();
  // Each look is work for the page, and a line stays for seconds after its end.
  await expect.poll(names, { interval: 250 }).toEqual(expected);
}

const colour = (title: string, more: Asks = {}): Asks => ({ title, requestedSchema: COLOUR_FORM, ...more });
const page = (title: string): Asks => ({
  title,
  mode: 'url',
  url: 'https://accounts.example.com/authorize?scope=read',
});

/** The list of everything that waits for a person. */
export function inboxSuite(site: () => Site, withPerson: WithPerson): void {
  it('shows the open questions of all conversations, newest first, also after a reload', () =>
    withPerson(async (ada) => {
      await withPerson(async (grace) => void (await grace.ask(colour('Not for Ada'))));
      await ada.ask(
        colour('Paint the door', {
          conversationId: 'chat-1',
          context: { agent: 'Painter' },
          timeoutSeconds: 86_400,
        }),
      );
      await ada.ask({ ...page('Connect Issues'), conversationId: 'chat-2' });
      await ada.ask({ message: '<img src=x onerror=alert(1)>\nWhich one?', requestedSchema: COLOUR_FORM });
      const tab = await openInbox(ada);
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
      const { id } = await ada.ask(colour('Paint the door'));
      const tab = await openInbox(ada);
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
      const [here, there] = [await openInbox(ada), await openInbox(ada)];
      await reads(chipOf(there), '2 waiting');
      await lineOf(here, 'Paint the door').getByRole('button', { name: 'Paint the door' }).click();
      await here.getByRole('radio', { name: 'blue' }).check();
      await here.getByRole('button', { name: 'Send' }).click();
      for (const tab of [here, there]) await reads(chipOf(tab), '1 waiting');
      await reads(lineOf(here, 'Paint the door').locator('[part=note]'), 'Your answer was sent.');
      await reads(spokenOf(there), 'Paint the door: This was answered somewhere else.');
      await namesAre(there, ['Paint the fence']);
      expect(await asked.outcome).toMatchObject({ status: 'accepted', content: { colour: 'blue' } });
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
      const tab = await openInbox(ada);
      await namesAre(tab, ['Paint the door']);
      expect(await spokenOf(tab).getAttribute('role')).toBe('status');
      expect(await spokenOf(tab).textContent()).toBe('');
      const { id } = await ada.ask(colour('Paint the fence', { context: { agent: 'Painter' } }));
      await reads(spokenOf(tab), 'New question from Painter');
      await reads(chipOf(tab), '2 waiting');
      expect(await tab.evaluate(() => document.activeElement?.localName)).toBe('body');
      await site().service.withdraw(id);
      await reads(spokenOf(tab), 'Paint the fence: This is not needed any more.');
      await namesAre(tab, ['Paint the door']);
    }));

  it('works by keyboard alone, and keeps typed values when a line is folded', () =>
    withPerson(async (ada) => {
      await ada.ask(colour('Paint the door'));
      const tab = await openInbox(ada, '<elicitation-inbox collapsed></elicitation-inbox>');
      await reads(chipOf(tab), '1 waiting');
      expect(await linesOf(tab).isVisible()).toBe(false);
      const press = async (...keys: string[]) => {
        for (const key of keys) await tab.keyboard.press(key);
      };
      await press('Tab', 'Tab', 'Enter', 'Tab', 'Enter');
      await tab.locator('elicitation-card[data-state=pending]').waitFor();
      const heard = await listenForShortcuts(tab);
      await press('Tab', 'Space', 'Tab');
      await tab.keyboard.type('two coats');
      expect(new Set((await heard()).map((one) => one.split(' ')[1]))).toEqual(new Set(['Tab']));
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
      const tab = await openInbox(ada);
      await reads(tab.locator('elicitation-inbox [part=empty]'), 'Nothing is waiting for you.');
      const connection = tab.locator('elicitation-inbox [part=connection]');
      await ada.context.setOffline(true);
      await reads(connection, 'No connection; trying again');
      await reads(spokenOf(tab), 'No connection; trying again');
      await ada.ask(colour('Paint the door'));
      await ada.context.setOffline(false);
      await namesAre(tab, ['Paint the door']);
      await reads(connection, 'Up to date');
    }));

  it('has no axe violations, light and dark', () =>
    withPerson(async (ada) => {
      const tab = await openInbox(ada);
      await tab.setViewportSize({ width: NARROW, height: 800 });
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
      // Its line stays for a while after its end, in which it is judged: as long as the focus is in it.
      await lineOf(tab, 'Paint the door').getByRole('button', { name: 'Paint the door' }).focus();
      await site().service.withdraw(gone.id);
      await lineOf(tab, 'Paint the door').locator('[part=note]').waitFor();
      expect(await axe(tab)).toEqual([]);
      expect(await tab.evaluate(overflow)).toEqual([]);
      await tab.emulateMedia({ colorScheme: 'dark' });
      expect(await axe(tab, RULES_OF_LOOKS)).toEqual([]);
    }));

  it('uses the language of its ancestor, and texts of the page', () =>
    withPerson(async (ada) => {
      await ada.ask(colour('Die Tür'));
      const tab = await openInbox(ada, `<div lang="de">${INBOX_BODY}</div>`);
      await reads(chipOf(tab), '1 wartet');
      await tab.evaluate(() => {
        const inbox = document.querySelector('elicitation-inbox');
        if (inbox) Object.assign(inbox, { strings: { waiting: (count: number) => `${count}!` } });
      });
      await reads(chipOf(tab), '1!');
    }));
}
