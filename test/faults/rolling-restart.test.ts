import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@parley/sdk';
import { createChatTransport } from '@parley/sdk/chat';
import { expect, it, onTestFinished } from 'vitest';
import type { ScriptedReply, Turn } from '../../infra/demo/stand-ins/scripted-model/script.ts';
import { person, questionsIn } from '../harness/chat/client.ts';
import { PlainChat } from '../harness/chat/plain-chat.ts';
import { type ChatSite, openChatSite } from '../harness/chat/transport-site.ts';
import { serviceKeyOf } from '../harness/load/load-env.ts';
import { olderTree } from '../harness/processes/older-tree.ts';
import { isFullSize, sized } from '../harness/proof-size.ts';
import { waitUntil } from '../harness/wait-until.ts';

const CONVERSATIONS = sized(500, 40);
// Each conversation costs the pods the same whatever its pace: a daily run begins fewer while the pods are replaced.
const BETWEEN_MS = isFullSize ? 120 : 300;
const PODS = [0, 1, 2];

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

const beginningOf = (name: string) => `Let me see, ${name}: ${'one moment '.repeat(40)}. `;
const endOf = (name: string) => `Seated ${name}, ${'with a view '.repeat(10)}.`;

/** Three pods and a worker, of this build or of an older one and of this one. */
async function openPods(root?: string): Promise<ChatSite> {
  const chats = await openChatSite({
    script: [line],
    delayMs: 20,
    // As with any balancer: a draining pod fails its health check before it refuses connections.
    env: { PARLEY_DRAIN_DELAY_MS: '2000' },
    ...(root !== undefined && { root }),
  });
  onTestFinished(() => chats.stop());
  return chats;
}

interface Conversation {
  readonly name: string;
  readonly chat: PlainChat;
  readonly questions: number;
}

/** A person who sends one message and answers each question at once. */
async function converse(chats: ChatSite, name: string): Promise<Conversation> {
  const { authorization } = await person();
  const token = authorization.slice('Bearer '.length);
  const access = { baseUrl: chats.balancer.url, token };
  const transport = createChatTransport(access);
  const chat = new PlainChat({ id: name, transport });
  transport.attach(chat);
  const client = createClient(access);
  const said = chat.sendMessage({ text: name });
  const question = () => questionsIn(chat.messages.at(-1))[0];
  await waitUntil(() => question() ?? chat.error, { what: `the question of ${name}`, timeoutMs: 120_000 });
  if (chat.error !== undefined) throw new Error(`${name} failed`, { cause: chat.error });
  await client.answer(question()?.elicitationId ?? '', { action: 'accept', content: { answer: '12A' } });
  await said;
  await chat.untilSettled();
  return { name, chat, questions: (await client.list().page()).elicitations.length };
}

/** A service that sends the same ask twice, to whichever pods. Resolves with the replies. */
async function askTwice({ balancer }: ChatSite, name: string) {
  const ask = async () => {
    const response = await fetch(`${balancer.url}/v1/elicitations`, {
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
async function converseDuring(chats: ChatSite, betweenMs: number, replaced: Promise<void>) {
  let isReplaced = false;
  const done = replaced.finally(() => (isReplaced = true));
  const talks: Promise<[Conversation, Awaited<ReturnType<typeof askTwice>>]>[] = [];
  while (!isReplaced || talks.length < CONVERSATIONS) {
    const name = `guest-${talks.length}`;
    const talk = Promise.all([converse(chats, name), askTwice(chats, name)]);
    talk.catch(() => undefined);
    talks.push(talk);
    await sleep(betweenMs);
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

/** Replaces one pod after the other, by pods of the tree. */
async function replaceAll(chats: ChatSite, root?: string): Promise<void> {
  await sleep(BETWEEN_MS * 10);
  for (const at of PODS) await chats.replace(at, 'SIGTERM', root);
}

it('three pods are restarted one after the other: no conversation fails', async () => {
  const chats = await openPods();
  await converseDuring(chats, BETWEEN_MS, replaceAll(chats));
});

it('three pods of an older build are replaced by this one, and rolled back: no conversation fails', async ({
  skip,
}) => {
  const older = await olderTree(OLDER_COMMIT);
  if ('missing' in older) return skip(`not run: ${older.missing}`);
  const chats = await openPods(older.root);
  const replaced = replaceAll(chats).then(() => replaceAll(chats, older.root));
  await converseDuring(chats, 3 * BETWEEN_MS, replaced);
});
