import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../../demo/chromium.ts';
import { loadClientFiles } from '../../../demo/client-files.ts';
import { startPageServer } from '../../../demo/page-server.ts';
import { openPage } from '../in-chromium.ts';
import { userToken } from '../tokens.ts';
import { waitUntil } from '../wait-until.ts';
import { SECRET } from './client.ts';

export const tokenOf = (userId: string) => userToken({ secret: SECRET, userId });

/** A message as the page stores it. */
export interface Kept {
  readonly role: string;
  readonly state: string;
  readonly parts: readonly { readonly type: string; readonly text?: string }[];
}

/** The demo's chat page, in a browser, before an api. */
export interface ChatPages {
  readonly browser: Browser;
  /** Opens the chat for a person: in a separate page, or in one that is there. */
  open(person: string, page?: Page): Promise<Page>;
  stop(): Promise<void>;
}

/** A browser, and the files of the page: what several servers of the page can share. */
export interface PageParts {
  readonly browser: Browser;
  readonly clientFiles: Awaited<ReturnType<typeof loadClientFiles>>;
}

/** Starts the browser of that path, and builds the files. */
export async function openPageParts(chromium: string): Promise<PageParts> {
  const [browser, clientFiles] = await Promise.all([
    launchChromium(chromium),
    loadClientFiles(() => undefined),
  ]);
  return { browser, clientFiles };
}

/** Serves the page for these people: with parts that stay, or in the browser of a path. */
export async function openChatPages(
  apiUrl: string,
  people: readonly string[],
  parts: PageParts | string,
): Promise<ChatPages> {
  const { browser, clientFiles } = typeof parts === 'string' ? await openPageParts(parts) : parts;
  // With the code that the browser has compiled of them, kept files save a third of a load.
  const rest = { clientFiles, tokenOf, people, model: 'scripted', ask: async () => '', keepSeconds: 3_600 };
  const site = await startPageServer({ apiUrl, ...rest });
  return {
    browser,
    async open(person, known) {
      const page = known ?? (await openPage(browser));
      await page.goto(`${site.url}/?person=${person}`);
      return page;
    },
    async stop() {
      if (typeof parts === 'string') await browser.close();
      await site.close();
    },
  };
}

export async function say(page: Page, text: string): Promise<void> {
  await page.fill('#words', text);
  await page.press('#words', 'Enter');
}

/** Returns the chat that a page has stored once its last message is in one of these states. */
export function keptIn(page: Page, states: readonly string[]): Promise<Kept[]> {
  return waitUntil(
    async () => {
      const kept = await page.evaluate(() => {
        const [key] = Object.keys(sessionStorage).filter((name) => name.includes('/chat-'));
        return JSON.parse(sessionStorage.getItem(key ?? '') ?? '[]') as Kept[];
      });
      return states.includes(kept.at(-1)?.state ?? '') && kept.length > 1 && kept;
    },
    // Each look is work for the page.
    { what: `a reply that is ${states.join(' or ')}`, everyMs: 100 },
  );
}

/** The texts of a message, in order. */
export function textsOf(message: Kept | undefined): string[] {
  return (message?.parts ?? []).flatMap(({ type, text }) =>
    type === 'text' && text !== undefined ? [text] : [],
  );
}
