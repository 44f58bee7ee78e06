import type { Browser } from 'playwright-core';
import { openChromium } from './chromium.ts';
import { playInBrowser } from './story.ts';
import { playOverHttp } from './story-http.ts';
import type { World } from './world.ts';

/** Plays the people: in a browser if one is available, otherwise over HTTP. Throws if a step fails. */
export async function playStory(world: World, print: (text: string) => void): Promise<void> {
  const opened = await openChromium(print);
  if ('reason' in opened) {
    print(`
No Chromium here (${opened.reason}).
Install one with \`npx playwright-core install --with-deps chromium\` or your system's package manager to see it in a browser.
The same story over HTTP, with the pages fetched and their forms posted, but without a browser:
`);
    return playOverHttp(world, print);
  }
  const { browser, path } = opened;
  print(`\nThe story, in ${path}:\n`);
  try {
    await playInBrowser(browser, world, print);
  } catch (error) {
    throw new Error(`${sentenceOf(error)}\n${(await pagesOf(browser)).join('\n')}`);
  } finally {
    await browser.close();
  }
  print('\nThat is the demo. Without --auto, you are alice and bob.');
}

/** Removes colours and the call log from an error of Playwright. */
function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what colours are made of
  return text.replace(/\u001b\[\d+m/g, '').replace(/\nCall log:\s*- /, ' ');
}

/** The texts of the open pages. */
async function pagesOf(browser: Browser): Promise<string[]> {
  const pages = browser.contexts().flatMap((context) => context.pages());
  return Promise.all(
    pages.map(async (page) => {
      const text = await page
        .locator('body')
        .innerText({ timeout: 5_000 })
        .catch(() => 'nothing');
      return `  ${new URL(page.url()).pathname} shows: ${text.replace(/\s+/g, ' ').slice(0, 400)}`;
    }),
  );
}
