import type { Browser, Page } from 'playwright-core';
import { meetPerson } from '../../demo/person.ts';
import { startWorld } from '../../demo/world.ts';

const SIZES = { 1280: 720, 360: 720 } as const;

/** Draws the demo's chat while it asks for an account. `save` gets a name without extension, and the page. */
export async function drawDemo(
  browser: Browser,
  save: (name: string, page: Page) => Promise<void>,
): Promise<void> {
  const world = await startWorld({ print: () => undefined, publicHost: 'localhost' });
  try {
    const { page, say, question } = await meetPerson({ browser, url: world.page.url, name: 'alice' });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await say('List my issues');
    const card = await question('Connect Acme Tracker');
    for (const [width, height] of Object.entries(SIZES)) {
      await page.setViewportSize({ width: Number(width), height });
      // The link is ready when it has been in view for a second.
      await card.getByRole('link', { name: 'Connect account' }).and(page.locator('[href]')).waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await save(`demo-${width}-${colorScheme}`, page);
      }
    }
  } finally {
    await world.close();
  }
}
