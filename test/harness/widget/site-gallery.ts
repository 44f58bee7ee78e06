import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { waitUntil } from '../wait-until.ts';

/** States that a card of the gallery reaches by itself and that only this card shows. */
const LATE = ['sending', 'refused', 'offline', 'elsewhere', 'gone'];

/** Opens the gallery from disk, and waits until every card is in its intended state. */
export async function openGallery(page: Page, folder: string, query: string): Promise<void> {
  await page.goto(`${pathToFileURL(folder).href}/index.html?${query}`);
  await waitUntil(
    async () => {
      const states = await page
        .locator('elicitation-card')
        .evaluateAll((cards) => cards.map((card) => card.getAttribute('data-state')));
      const missing = LATE.filter((state) => !states.includes(state));
      if (missing.length === 0) return true;
      throw new Error(`nothing is ${missing.join(', ')} yet`);
    },
    { what: 'the cards of the gallery', timeoutMs: 60_000, everyMs: 250 },
  );
}
