import { controlName } from '../../../services/api/src/pages/views/answer/controls.ts';
import type { Called } from '../../harness/mcp-clients/clients.ts';
import { createTestBrowser, type TestBrowser } from '../../harness/pages/browser.ts';

/** How a call ends of a client that shows no questions: what its person does on the pages that it was told. */
export interface ToldCase {
  readonly name: string;
  readonly tool: string;
  /** How many addresses the client is told. */
  readonly pages: number;
  readonly act: (path: string, browser: TestBrowser, userId: string) => Promise<void>;
  readonly text: RegExp;
  readonly isError: boolean;
  /** How often the tool had its effect. */
  readonly effects: number;
}

const ANSWER = { [controlName(0)]: 'green' };

async function accept(path: string, browser: TestBrowser, userId: string): Promise<void> {
  await browser.submit(await browser.enter(path, userId), 'accept', ANSWER);
}

async function decline(path: string, browser: TestBrowser, userId: string): Promise<void> {
  await browser.submit(await browser.enter(path, userId), 'decline');
}

async function connect(path: string, browser: TestBrowser, userId: string): Promise<void> {
  const done = await browser.submit(await browser.enter(path, userId), 'secret', {
    secret: `key-of-${userId}`,
  });
  if (!done.heading.includes('connected')) throw new Error(`The page says: ${done.heading}`);
}

const nothing = async () => undefined;

export const TOLD_CASES: readonly ToldCase[] = [
  {
    name: 'answered',
    tool: 'ticket',
    pages: 2,
    act: accept,
    text: /^A green ticket/,
    isError: false,
    effects: 1,
  },
  {
    name: 'declined',
    tool: 'sign',
    pages: 1,
    act: decline,
    text: /^Not signed: decline/,
    isError: false,
    effects: 0,
  },
  {
    name: 'expired',
    tool: 'brief_desk__sign',
    pages: 1,
    act: nothing,
    text: /^Not signed: cancel/,
    isError: false,
    effects: 0,
  },
  {
    name: 'connected',
    tool: 'account__stamp',
    pages: 1,
    act: connect,
    text: /^Stamped one/,
    isError: false,
    effects: 1,
  },
  {
    name: 'not connected',
    tool: 'account__stamp',
    pages: 1,
    act: decline,
    text: /explicitly declined/,
    isError: true,
    effects: 0,
  },
];

/** What the person of a call that was told does on its pages, in a browser of their own. */
export async function actOnPages(
  { text }: Called,
  one: ToldCase,
  origin: string,
  userId: string,
): Promise<number> {
  const addresses = text.match(/https?:\/\/\S+/gu) ?? [];
  const browser = createTestBrowser({ publicUrl: origin });
  for (const address of addresses) await one.act(new URL(address).pathname, browser, userId);
  return addresses.filter((address) => address.startsWith(`${origin}/auth/`)).length;
}
