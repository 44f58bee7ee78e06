import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { waitUntil } from '../../test/harness/wait-until.ts';
import { widgetBuild } from '../../test/harness/widget/site-build.ts';
import { openGallery } from '../../test/harness/widget/site-gallery.ts';

/** Labels of the cards that are shown as examples, by page width, because a phone has room for few. */
const SHOWN: Readonly<Record<number, readonly string[]>> = {
  1280: [
    ...['Form', 'Account to connect', 'Page opened', 'Refused by the server at a field', 'Offline'],
    ...['Letters that imitate others', 'Answered', 'Elsewhere', 'Expired'],
  ],
  360: ['Form', 'Account to connect', 'Page opened', 'Answered'],
};

/** The same for cards of approvals. */
const APPROVALS_SHOWN: typeof SHOWN = {
  1280: [
    ...[
      'One call',
      'Long and nested arguments, no hints',
      'Refused at an argument',
      'One of several decided',
    ],
    ...['Approved with changes', 'Denied'],
  ],
  360: ['One call', 'Denied'],
};

/** Draws cards of the gallery. `save` gets a name without extension, and the page. */
export async function drawWidget(
  browser: Browser,
  save: (name: string, page: Page) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-gallery-'));
  try {
    await (await widgetBuild()).buildGallery(folder);
    for (const [name, shown] of Object.entries({ widget: SHOWN, approvals: APPROVALS_SHOWN })) {
      for (const [width, labels] of Object.entries(shown)) {
        for (const theme of ['light', 'dark']) await draw(name, Number(width), labels, theme);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }

  async function draw(name: string, width: number, labels: readonly string[], theme: string): Promise<void> {
    const page = await browser.newPage({ viewport: { width, height: 800 }, reducedMotion: 'reduce' });
    await openGallery(page, folder, `theme=${theme}`);
    await page.evaluate(keepOnly(labels));
    // The whole page must be in view: elements that stick to the window's edge are then in their places, and links become
    // active after a second.
    const height = await page.evaluate('document.documentElement.scrollHeight');
    await page.setViewportSize({ width, height: Number(height) });
    const inactive = page.locator(
      'elicitation-card a:not([href]), approval-card .primary[aria-disabled=true]',
    );
    await waitUntil(async () => (await inactive.count()) === 0, { what: 'the buttons', timeoutMs: 30_000 });
    if (labels.includes('Refused at an argument')) {
      await page.locator('approval-card[data-state=refused]').waitFor();
    }
    await save(`${name}-${width}-${theme}`, page);
    await page.close();
  }
}

/**
 * Keeps only the cards with these labels, in one grid. The script is a text, because the build tool adds name markers to
 * functions.
 */
const keepOnly = (labels: readonly string[]) => `
  const labels = ${JSON.stringify(labels)};
  const labelOf = (figure) => figure.querySelector('h3').textContent;
  const figures = [...document.querySelectorAll('figure')];
  const kept = labels.map((label) => figures.find((figure) => labelOf(figure) === label));
  const grid = document.querySelector('.cards');
  for (const each of document.querySelectorAll('header, nav, h2')) each.remove();
  grid.replaceChildren(...kept);
  for (const section of document.querySelectorAll('section')) if (!section.contains(grid)) section.remove();
  scrollTo(0, 0);
`;
