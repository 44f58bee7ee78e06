import type { Browser, Page } from 'playwright-core';
import { pageOf } from '../../test/harness/slack/draw/page.ts';
import { SHEETS } from '../../test/harness/slack/draw/states.ts';

const WIDTH = 1100;
/** The initial height, which is less than any picture needs. */
const HEIGHT = 100;

/**
 * Draws Parley's messages in Slack with a renderer that is not Slack's own. `save` gets a name without extension, and the page.
 */
export async function drawSlack(
  browser: Browser,
  save: (name: string, page: Page) => Promise<void>,
): Promise<void> {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: HEIGHT } });
  for (const [name, pictures] of Object.entries(SHEETS)) {
    await page.setViewportSize({ width: WIDTH, height: HEIGHT });
    await page.setContent(pageOf(pictures));
    const height = await page.evaluate('document.documentElement.scrollHeight');
    await page.setViewportSize({ width: WIDTH, height: Number(height) });
    await save(`slack-${name}`, page);
  }
  await page.close();
}
