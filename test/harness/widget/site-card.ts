import type { Locator, Page } from 'playwright-core';
import { waitUntil } from '../wait-until.ts';

/** Waits until a card is in a state, and returns its content. */
export async function cardIn(page: Page, state: string): Promise<Locator> {
  const card = page.locator(`elicitation-card[data-state=${state}]`);
  await card.waitFor().catch(async () => {
    const states = await page
      .locator('elicitation-card')
      .evaluateAll((cards) => cards.map((each) => each.getAttribute('data-state')));
    throw new Error(`no card is ${state}, but ${states.join(', ')}`);
  });
  return card.locator('[part=card]');
}

export const part = (page: Page, name: string) => page.locator(`elicitation-card [part=${name}]`);
export const button = (page: Page, name: string) =>
  page.locator('elicitation-card').getByRole('button', { name, exact: true });
export const link = (page: Page) => page.locator('elicitation-card a');

/** Waits until an element contains the text or matches the pattern. */
export async function reads(what: Locator, expected: string | RegExp): Promise<void> {
  await waitUntil(
    async () => {
      const text = (await what.innerText()).replaceAll('\u00a0', ' ').trim();
      if (typeof expected === 'string' ? text.includes(expected) : expected.test(text)) return true;
      throw new Error(`it reads ${JSON.stringify(text)}`);
    },
    // Each look is work for the page.
    { what: `the text ${expected}`, everyMs: 100 },
  );
}

/** The text of the live region. */
export const spoken = (page: Page) => page.locator('elicitation-card [role=status].said');

/** Waits until the link to a page works, which needs it to be in view for a second. */
export async function awake(page: Page): Promise<Locator> {
  const awakened = page.locator('elicitation-card a[href]');
  await link(page).scrollIntoViewIfNeeded();
  await awakened.waitFor();
  return awakened;
}

/** The focused element, and whether its focus is visible. */
export function focused(page: Page): Promise<{ name: string; seen: boolean }> {
  return page.evaluate(() => {
    let at = document.activeElement ?? document.body;
    while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
    const labels = at instanceof HTMLInputElement || at instanceof HTMLSelectElement ? at.labels : undefined;
    const name = labels?.[0]?.innerText ?? (at as HTMLElement).innerText ?? '';
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    const seen =
      at.matches(':focus-visible') && outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2;
    return { name: name.replace(/\s+/gu, ' ').trim() || at.localName, seen };
  });
}

/** Presses Tab until an element of this name has the focus; every focus on the way must be visible. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let stops = 0; stops < 30; stops += 1) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    // The page's own field is the page's business.
    if (!at.seen && at.name !== 'Message') throw new Error(`the focus at ${at.name} cannot be seen`);
    if (at.name.startsWith(name)) return;
  }
  throw new Error(`no stop is called ${name}`);
}
