import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../../infra/demo/chromium.ts';
import { loadClientFiles } from '../../../infra/demo/client-files.ts';
import { startPageServer } from '../../../infra/demo/page-server.ts';
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
  /** Opens a separate page for a person. */
  open(person: string): Promise<Page>;
  stop(): Promise<void>;
}

/** Serves the page for these people, and starts the browser of that path. */
export async function openChatPages(
  apiUrl: string,
  people: readonly string[],
  chromium: string,
): Promise<ChatPages> {
  const clientFiles = await loadClientFiles(() => undefined);
  const rest = { clientFiles, tokenOf, people, model: 'scripted', ask: async () => '' };
  const site = await startPageServer({ apiUrl, ...rest });
  const browser = await launchChromium(chromium);
  return {
    browser,
    async open(person) {
      const page = await (await browser.newContext()).newPage();
      await page.goto(`${site.url}/?person=${person}`);
      return page;
    },
    async stop() {
      await browser.close();
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
    { what: `a reply that is ${states.join(' or ')}` },
  );
}

/** The texts of a message, in order. */
export function textsOf(message: Kept | undefined): string[] {
  return (message?.parts ?? []).flatMap(({ type, text }) =>
    type === 'text' && text !== undefined ? [text] : [],
  );
}
