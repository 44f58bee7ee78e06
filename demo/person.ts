/**
 * A person at the chat page in a real browser, for the demo's story and the browser tests. What the person does is in
 * `story.ts`.
 */

import type { Browser, Locator, Page } from 'playwright-core';

/** A call that a person's browser made, and the pod that answered it. */
interface PodCall {
  readonly path: string;
  readonly pod: string;
}

/** A person at the chat page, in a browser of their own. */
export interface Person {
  readonly page: Page;
  readonly pods: readonly PodCall[];
  /** Writes a message and sends it. */
  say(text: string): Promise<void>;
  /** Reloads the page while a turn runs, and waits until the page follows that turn again. */
  reload(): Promise<void>;
  /** The newest card with that title, once it can be answered. */
  question(title: string): Promise<Locator>;
  /** The card's link, once it can be pressed, which is after it has been in view for a moment. */
  link(card: Locator): Promise<Locator>;
  /** Opens the card's page through its link, in a new tab. */
  open(card: Locator): Promise<Page>;
  /** The agent's last message, once it is complete. */
  answer(): Promise<string>;
  close(): Promise<void>;
}

interface PersonOptions {
  readonly browser: Browser;
  readonly url: string;
  readonly name: string;
}

const STEP_MS = 30_000;

export async function meetPerson({ browser, url, name }: PersonOptions): Promise<Person> {
  // Animations are reduced, because nobody watches, and a page with movement takes a tenth of a core.
  const context = await browser.newContext({ locale: 'en-US', reducedMotion: 'reduce' });
  context.setDefaultTimeout(STEP_MS);
  const pods: PodCall[] = [];
  context.on('response', (response) => {
    const pod = response.headers()['x-parley-upstream'];
    if (pod !== undefined) pods.push({ path: new URL(response.url()).pathname, pod });
  });
  const page = await context.newPage();
  await page.goto(`${url}/?person=${name}`);
  await page.getByText(`You are ${name}.`).waitFor();
  const last = page.locator('article.assistant').last();
  return {
    page,
    pods,
    async say(text) {
      await page.getByLabel('Message').fill(text);
      // A card may have a button with the same name.
      await page.locator('#composer').getByRole('button', { name: 'Send' }).click();
    },
    async reload() {
      await page.reload();
      await last.getByText('resumed: ').waitFor();
    },
    async question(title) {
      const card = last.getByRole('group', { name: title });
      await card.getByRole('button', { name: 'Decline' }).waitFor();
      return card;
    },
    link: linkOf,
    async open(card) {
      const link = await linkOf(card);
      const [tab] = await Promise.all([context.waitForEvent('page'), link.click()]);
      return tab;
    },
    async answer() {
      await page.locator('article.assistant[aria-busy="false"]:last-of-type').waitFor();
      return (await last.locator('.text').allInnerTexts()).join(' ');
    },
    close: () => context.close(),
  };
}

async function linkOf(card: Locator): Promise<Locator> {
  const link = card.getByRole('link', { name: 'Connect account' });
  await link.scrollIntoViewIfNeeded();
  await link.and(card.page().locator('[href]')).waitFor();
  return link;
}

/** Signs in at the company's accounts, to which Parley's page leads. */
export async function signIn(tab: Page, name: string): Promise<void> {
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByLabel('User').fill(name);
  await tab.getByRole('button', { name: 'Sign in' }).click();
}

/** Agrees on Parley's page, which then leads to the provider. */
export async function agreeToGo(tab: Page, service: string): Promise<void> {
  await tab.getByRole('heading', { name: `Connect ${service}` }).waitFor();
  await tab.getByRole('button', { name: 'Continue' }).click();
}

/** Agrees at the provider. */
export async function allow(tab: Page): Promise<void> {
  await tab.getByRole('button', { name: 'Allow' }).click();
}
