import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import { createChatClient, person } from '../../harness/chat/client.ts';
import type { ConsoleSite, OperatorName } from '../../harness/console/site.ts';
import { openPage } from '../../harness/in-chromium.ts';
import { waitUntil } from '../../harness/wait-until.ts';

/** What stands in every text that somebody else can write: it would run, or draw, if it were anything but text. */
export const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"\'{{1}}';

/** How an operator opens the console. */
export interface OpenedAs {
  readonly path?: string;
  /** @default olivia, who has every role */
  readonly who?: OperatorName | undefined;
  readonly locale?: string;
}

/** A page of the console of an operator who has signed in; everything that goes wrong in it is noted. */
export async function openConsole(
  browser: Browser,
  site: ConsoleSite,
  { path = '/console', who = 'olivia', locale = 'en-GB' }: OpenedAs = {},
): Promise<Page & { readonly faults: string[] }> {
  const page = await openPage(browser, { viewport: { width: 1280, height: 800 }, locale });
  await page.context().addCookies(await cookiesOf(site, who));
  const faults: string[] = [];
  page.on('pageerror', ({ message }) => faults.push(message));
  page.on('console', (message) => {
    // A refused load is what a page shows as a sentence.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(message.text());
  });
  await page.goto(site.publicUrl + path);
  return Object.assign(page, { faults });
}

/** The session of an operator, for a browser. */
export async function cookiesOf({ sessionOf, publicUrl }: ConsoleSite, who: OperatorName) {
  const header = await sessionOf(who);
  return header.split('; ').map((cookie) => {
    const [name = '', ...value] = cookie.split('=');
    return { name, value: value.join('='), url: publicUrl };
  });
}

/** Goes to a place as a link does, and waits until its page stands. */
export async function goTo(page: Page, href: string, heading: string): Promise<void> {
  await page.goto(new URL(href, page.url()).href);
  await untilStands(page, heading);
}

/** Goes to a place within the page, as the history of a browser does. Runs in the page; resolves once the new place is drawn. */
export async function moveTo(href: string): Promise<void> {
  history.pushState(null, '', href);
  dispatchEvent(new PopStateEvent('popstate'));
  await new Promise(requestAnimationFrame);
}

/** Goes to a place without loading the page again, and waits until its page stands. */
export async function goWithin(page: Page, href: string, heading: string): Promise<void> {
  await page.evaluate(moveTo, href);
  await untilStands(page, heading);
}

async function untilStands(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await expect.poll(() => page.locator('[aria-busy=true]').count()).toBe(0);
}

/** What operators see of the deployment, read as the console reads it. */
export function adminOf({ chats, readerKey }: ConsoleSite) {
  return async <Reply>(path: string): Promise<Reply> => {
    const response = await fetch(`${chats.balancer.url}/v1/admin${path}`, {
      headers: { authorization: `Bearer ${readerKey}` },
    });
    expect(response.status, path).toBe(200);
    return (await response.json()) as Reply;
  };
}

interface Listed {
  readonly elicitations: readonly {
    readonly elicitationId: string;
    readonly streamRequestId: string;
    readonly agent: string;
    readonly userId: string;
  }[];
  readonly approvals: readonly { readonly approvalId: string }[];
  readonly turns: readonly {
    readonly streamRequestId: string;
    readonly agent: string;
    readonly pod?: string;
  }[];
}

/** A person who says something to an agent, until all that follows from it stands. */
export async function talkOf(
  site: ConsoleSite,
  said: { readonly text: string; readonly chatId: string; readonly agent?: string; readonly pod?: number },
) {
  const { say } = createChatClient((pod) => site.chats.pods[pod]?.url ?? '');
  const who = await person();
  const admin = adminOf(site);
  const chat = await say({ ...who, ...said });
  chat.done.catch(() => undefined);
  const kind = said.agent === 'desk' ? 'approvals' : 'elicitations';
  const user = encodeURIComponent(who.userId);
  const open = await waitUntil(
    async () => {
      const found = await admin<Listed>(`/${kind}?userId=${user}`);
      return found[kind].length > 0 && found;
    },
    { what: 'what waits for the person' },
  );
  const { turns } = await admin<Listed>(`/turns?userId=${user}&order=oldest`);
  const [question] = open.elicitations ?? [];
  const [approval] = open.approvals ?? [];
  return {
    ...who,
    id: question?.elicitationId ?? approval?.approvalId ?? '',
    turn: turns.find(({ agent }) => agent === (said.agent ?? 'helper'))?.streamRequestId ?? '',
  };
}

/** A question of a service that was taken back, so that its webhook is to be delivered. Its address holds a secret. */
export async function askForWebhook({ chats, askerKey }: ConsoleSite, userId: string): Promise<string> {
  const headers = { authorization: `Bearer ${askerKey}`, 'content-type': 'application/json' };
  const requestedSchema = { type: 'object', properties: {} };
  const webhookUrl = 'https://hooks.invalid/hidden?token=hidden';
  const question = { userId, mode: 'form', message: '?', requestedSchema, webhookUrl };
  const asked = await fetch(`${chats.balancer.url}/v1/elicitations`, {
    method: 'POST',
    headers,
    body: JSON.stringify(question),
  });
  const { elicitationId } = (await asked.json()) as { readonly elicitationId: string };
  const at = `${chats.balancer.url}/v1/elicitations/${elicitationId}`;
  const ended = await fetch(at, { method: 'DELETE', headers });
  expect([asked.status, ended.status]).toEqual([201, 200]);
  return elicitationId;
}

/** A question of a service, in which every text that the service may write is hostile. */
export async function askAsService({ chats, askerKey }: ConsoleSite): Promise<string> {
  const text = HOSTILE;
  const response = await fetch(`${chats.balancer.url}/v1/elicitations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${askerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      userId: HOSTILE,
      mode: 'url',
      message: text,
      title: text,
      description: text,
      url: 'https://example.com/<img>',
      context: { trigger: 'constructor', toolId: text, toolName: text, agent: text },
    }),
  });
  const reply = (await response.json()) as { readonly elicitationId: string };
  expect(response.status, JSON.stringify(reply)).toBe(201);
  return reply.elicitationId;
}
