import { createClient } from '@parley/sdk';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ScriptedReply, Turn } from '../../infra/demo/stand-ins/scripted-model/script.ts';
import { type ChatPages, keptIn, openChatPages, say, textsOf, tokenOf } from '../harness/chat/page.ts';
import { type ChatSite, openChatSite } from '../harness/chat/transport-site.ts';
import { describeInChromium } from '../harness/in-chromium.ts';
import { waitUntil } from '../harness/wait-until.ts';

const PEOPLE = ['ada', 'bob', 'cyd', 'dee'];
const LATE = 'eve';
const PODS = [0, 1, 2];

function line({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: endOf(userText) };
  return {
    text: beginningOf(userText),
    calls: [{ name: 'elicit', arguments: { kind: 'text', message: `Which seat, ${userText}?` } }],
  };
}

const beginningOf = (name: string) => `Let me see, ${name}: ${'one moment '.repeat(80)}.`;
const endOf = (name: string) => `Seated ${name}.`;

await describeInChromium('the chat page', (path) => {
  let chats: ChatSite;
  let pages: ChatPages;

  beforeAll(async () => {
    chats = await openChatSite({ script: [line], delayMs: 20, env: { PARLEY_DRAIN_DELAY_MS: '2000' } });
    pages = await openChatPages(chats.balancer.url, [...PEOPLE, LATE], path);
  });
  afterAll(async () => {
    await pages?.stop();
    await chats?.stop();
  });

  /** The chat that the page has stored once no turn is running. */
  const keptBy = (page: Page) => keptIn(page, ['finished', 'stopped', 'failed', 'lost']);

  async function answer(person: string): Promise<number> {
    const client = createClient({ baseUrl: chats.balancer.url, token: await tokenOf(person) });
    const asked = async () => (await client.list().page()).elicitations[0];
    const { elicitationId } = await waitUntil(asked, { what: `the question to ${person}` });
    await client.answer(elicitationId, { action: 'accept', content: { answer: '12A' } });
    return (await client.list().page()).elicitations.length;
  }

  it('shows no error while the pods are restarted one after the other', async () => {
    const open = await Promise.all(PEOPLE.map((person) => pages.open(person)));
    const [first] = open;
    if (first === undefined) throw new Error('There is no page.');
    // One conversation begins before each restart, and one while a pod drains.
    await say(first, 'ada');
    for (const at of PODS) {
      const replaced = chats.replace(at, 'SIGTERM');
      const page = open[at + 1];
      if (page !== undefined) await say(page, PEOPLE[at + 1] ?? '');
      await replaced;
    }
    for (const [at, person] of PEOPLE.entries()) {
      const page = open[at];
      if (page === undefined) continue;
      expect(await answer(person), person).toBe(1);
      const [, reply] = await keptBy(page);
      expect([reply?.state, textsOf(reply)], person).toEqual([
        'finished',
        [beginningOf(person), endOf(person)],
      ]);
      expect(
        reply?.parts.map(({ type }) => type),
        person,
      ).not.toContain('note');
      await page.context().close();
    }
  });

  it('retries by itself when a draining pod refuses a message, and when a rate limit does', async () => {
    const page = await pages.open(LATE);
    const refusals = [503, 429];
    const sent: string[] = [];
    await page.route('**/run/api/chat', async (route) => {
      sent.push(route.request().postData() ?? '');
      const status = refusals.shift();
      const headers = { 'retry-after': '0', 'content-type': 'application/problem+json' };
      if (status === undefined) await route.continue();
      else await route.fulfill({ status, headers, body: '{"detail":"Not now."}' });
    });
    await say(page, 'once more');
    expect(await answer(LATE)).toBe(1);
    const [, reply] = await keptBy(page);
    expect([reply?.state, sent.length, new Set(sent).size]).toEqual(['finished', 3, 1]);
  });
});
