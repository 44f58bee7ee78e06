import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@parley/sdk';
import { createChatTransport } from '@parley/sdk/chat';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { ScriptedReply, Turn } from '../../infra/demo/stand-ins/scripted-model/script.ts';
import { person, questionsIn } from '../e2e/chat/client.ts';
import { type ChatSite, openChatSite } from '../e2e/chat/transport-site.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { PlainChat } from '../unit/sdk/plain-chat.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const CONVERSATIONS = process.env.PARLEY_PROOF_SIZE === 'full' ? 500 : 100;
const BETWEEN_MS = 120;
const PODS = [0, 1, 2];

let chats: ChatSite;

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

beforeAll(async () => {
  // As with any balancer: a draining pod fails its health check before it refuses connections.
  chats = await openChatSite({ script: [line], delayMs: 20, env: { PARLEY_DRAIN_DELAY_MS: '2000' } });
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
  await waitUntil(() => question() ?? chat.error, { what: `the question of ${name}`, timeoutMs: 120_000 });
  if (chat.error !== undefined) throw new Error(`${name} failed`, { cause: chat.error });
  await client.answer(question()?.elicitationId ?? '', { action: 'accept', content: { answer: '12A' } });
  await said;
  await chat.untilSettled();
  return { name, chat, questions: (await client.list().page()).elicitations.length };
}

/** Restarts one pod after the other while some conversations begin. */
async function restartAll(): Promise<void> {
  await sleep(BETWEEN_MS * 10);
  for (const at of PODS) await chats.replace(at, 'SIGTERM');
}

it(`three pods are restarted one after the other: none of ${CONVERSATIONS} conversations fails`, async () => {
  const restarted = restartAll();
  const conversations = await Promise.all(
    Array.from({ length: CONVERSATIONS }, async (_, at) => {
      await sleep(at * BETWEEN_MS);
      return converse(`guest-${at}`);
    }),
  );
  await restarted;
  for (const { name, chat, questions } of conversations) {
    expect([chat.status, chat.errors], name).toEqual(['ready', []]);
    expect(chat.reply, name).toBe(beginningOf(name) + endOf(name));
    expect([chat.messages.length, questionsIn(chat.messages.at(-1)).length, questions], name).toEqual([
      2, 1, 1,
    ]);
  }
  // Some turns were replayed; otherwise the restarts did not interrupt any.
  expect(conversations.filter(({ chat }) => chat.finishes.length > 1)).not.toHaveLength(0);
});
