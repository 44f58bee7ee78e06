import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@parley/sdk';
import { createChatTransport } from '@parley/sdk/chat';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ScriptedReply, Turn } from '../../stand-ins/scripted-model/script.ts';
import { person, questionsIn } from '../harness/chat/client.ts';
import { type ChatPages, keptIn, openChatPages, say, textsOf, tokenOf } from '../harness/chat/page.ts';
import { PlainChat } from '../harness/chat/plain-chat.ts';
import { type ChatSite, openChatSite } from '../harness/chat/transport-site.ts';
import { describeInChromium } from '../harness/in-chromium.ts';
import { serviceKeyOf } from '../harness/load/load-env.ts';
import { olderTree } from '../harness/processes/older-tree.ts';
import { isFullSize, sized } from '../harness/proof-size.ts';
import { waitUntil } from '../harness/wait-until.ts';

const CONVERSATIONS = sized(500, 8);
// Each conversation costs the pods the same whatever its pace: a daily run begins fewer while the pods are replaced.
const BETWEEN_MS = sized(240, 800);
// A slow machine takes longer to replace the pods, and begins no more conversations for that.
const AT_ONCE_MAX = sized(100, 3);
// Of two pods, the one that stays takes over all turns of the other.
const PODS = isFullSize ? [0, 1, 2] : [0, 1];
// The model takes three seconds for its first text, whether in few words or in many.
const DELAY_MS = sized(20, 100);
const MOMENTS = 1_500 / DELAY_MS;
/** The pods that are restarted under the page. */
const UNDER_PAGE = isFullSize ? PODS : [0];
// The first one begins before the restarts, each further one while a pod drains.
const PEOPLE = ['ada', 'bob', 'cyd', 'dee'].slice(0, 1 + UNDER_PAGE.length);
const LATE = 'eve';

// The oldest build that may run beside this one. A later one takes its place when CHANGELOG.md says that the two must not.
const OLDER_COMMIT = 'cb8f453581ad9d559a1cfa27eb418dc1cf35a707';

/** Streams a long text and asks a question; then repeats the answer. */
function line({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: endOf(userText) };
  return {
    text: beginningOf(userText),
    calls: [{ name: 'elicit', arguments: { kind: 'text', message: `Which seat, ${userText}?` } }],
  };
}

const beginningOf = (name: string) => `Let me see, ${name}: ${'one moment '.repeat(MOMENTS)}. `;
const endOf = (name: string) => `Seated ${name}, ${'with a view '.repeat(3)}.`;

let chats: ChatSite;

beforeAll(async () => {
  chats = await openChatSite({
    script: [line],
    delayMs: DELAY_MS,
    pods: PODS.length,
    // As with any balancer: a draining pod fails its health check before it refuses connections.
    env: { PARLEY_DRAIN_DELAY_MS: '2000' },
    health: { healthIntervalMs: 400 },
  });
});
afterAll(() => chats?.stop());

interface Conversation {
  readonly name: string;
  readonly chat: PlainChat;
  readonly questions: number;
}

/** A person who sends one message and answers each question at once. */
async function converse(name: string): Promise<Conversation> {
  const { authorization } = await person();
  const token = authorization.slice('Bearer '.length);
  const access = { baseUrl: chats.balancer.url, token };
  const transport = createChatTransport(access);
  const chat = new PlainChat({ id: name, transport });
  transport.attach(chat);
  const client = createClient(access);
  const said = chat.sendMessage({ text: name });
  const question = () => questionsIn(chat.messages.at(-1))[0];
  const asked = await waitUntil(() => question() ?? chat.error, {
    what: `the question of ${name}`,
    timeoutMs: 120_000,
  });
  if (!('elicitationId' in asked)) throw new Error(`${name} failed`, { cause: asked });
  await client.answer(asked.elicitationId, { action: 'accept', content: { answer: '12A' } });
  await said;
  await chat.untilSettled();
  return { name, chat, questions: (await client.list().page()).elicitations.length };
}

/** A service that sends the same ask twice, to whichever pods. Resolves with the replies. */
async function askTwice(name: string) {
  const ask = async () => {
    const response = await fetch(`${chats.balancer.url}/v1/elicitations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${serviceKeyOf('acme')}`,
        'content-type': 'application/json',
        'idempotency-key': name,
      },
      body: JSON.stringify({ userId: name, mode: 'url', url: 'https://a.example/', message: 'Look.' }),
    });
    const { elicitationId } = (await response.json()) as { elicitationId?: string };
    // Those of a pod that drains are sent again.
    return response.status < 500 && { status: response.status, elicitationId };
  };
  const first = await waitUntil(ask, { what: `the first ask of ${name}` });
  return [first, await waitUntil(ask, { what: `the second ask of ${name}` })];
}

/**
 * Begins conversations one after the other until all pods are replaced. Every person sees each word and question once,
 * and asks that are sent twice lead to one question.
 */
async function converseDuring(replaced: Promise<void>) {
  let isReplaced = false;
  const done = replaced.finally(() => (isReplaced = true));
  const talks: Promise<[Conversation, Awaited<ReturnType<typeof askTwice>>]>[] = [];
  const underWay = new Set<(typeof talks)[number]>();
  while (!isReplaced || talks.length < CONVERSATIONS) {
    const name = `guest-${talks.length}`;
    const talk = Promise.all([converse(name), askTwice(name)]);
    talks.push(talk);
    underWay.add(talk);
    const over = () => underWay.delete(talk);
    talk.then(over, over);
    await sleep(BETWEEN_MS);
    while (underWay.size >= AT_ONCE_MAX) await Promise.race(underWay);
  }
  const all = await Promise.all(talks);
  await done;
  for (const [{ name, chat, questions }, asked] of all) {
    expect([chat.status, chat.errors], name).toEqual(['ready', []]);
    expect(chat.reply, name).toBe(beginningOf(name) + endOf(name));
    expect([chat.messages.length, questionsIn(chat.messages.at(-1)).length, questions], name).toEqual([
      2, 1, 1,
    ]);
    expect(asked, name).toEqual([asked[0], asked[0]]);
    expect(asked[0]?.status, name).toBe(201);
  }
  // Some turns were replayed; otherwise no pod was replaced during a turn.
  expect(all.filter(([{ chat }]) => chat.finishes.length > 1)).not.toHaveLength(0);
}

/**
 * Replaces the pods so that turns go from this build to itself, from this build to the older one, and back: while a pod
 * drains, the others take its turns.
 */
async function rollBackAndForth(older: string | undefined): Promise<void> {
  await chats.replace(0, 'SIGTERM', older);
  for (const at of PODS.slice(1)) await chats.replace(at, 'SIGTERM');
  await chats.replace(0, 'SIGTERM');
}

it('no conversation fails while pods are restarted, rolled back to an older build, and replaced by this one again', async ({
  skip,
}) => {
  const older = await olderTree(OLDER_COMMIT);
  const root = 'root' in older ? older.root : undefined;
  // A worker of each build runs all the time.
  if (root !== undefined) await chats.site.worker(chats.env, { root });
  await converseDuring(sleep(3 * BETWEEN_MS).then(() => rollBackAndForth(root)));
  if ('missing' in older) skip(`not run with an older build: ${older.missing}`);
});

await describeInChromium('the chat page', (path) => {
  let pages: ChatPages;

  beforeAll(async () => {
    pages = await openChatPages(chats.balancer.url, [...PEOPLE, LATE], path);
  });
  afterAll(() => pages?.stop());

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
    await chats.route(0);
    await say(first, 'ada');
    const isAsked = () => chats.model.requests.some(({ body }) => JSON.stringify(body).includes('"ada"'));
    await waitUntil(isAsked, { what: 'the turn of the first person' });
    await chats.route();
    for (const at of UNDER_PAGE) {
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
