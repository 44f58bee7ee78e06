import { createClient } from '@parley/sdk';
import { createChatTransport } from '@parley/sdk/chat';
import { DefaultChatTransport, type UIMessage } from 'ai';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ScriptedReply, Turn } from '../../../infra/demo/stand-ins/scripted-model/script.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { PlainChat } from '../../unit/sdk/plain-chat.ts';
import { expiringToken, person, questionsIn } from './client.ts';
import { componentInDocs, openReactPages, type ReactPages } from './react-pages.ts';
import { type ChatSite, openChatSite } from './transport-site.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const WORDS = 200;

let chats: ChatSite;
/** Number of model requests, by the text of the person. */
const attempts = new Map<string, number>();

/** How many replies to pages the model has begun. */
let replies = 0;
/** While this is set, the replies that begin last until their pod ends. */
let isEndless = false;
const replyOf = (reply: number, words = 2 * WORDS) =>
  `first-${reply} ${`next-${reply} `.repeat(words)}last-${reply}`;

/** Asks for a seat; else repeats one word, another word for each request: as with real models, no two replies are equal. */
function line({ userText, results }: Turn): ScriptedReply {
  if (userText === 'Hello') {
    replies += 1;
    return { text: isEndless ? replyOf(replies, 20 * WORDS) : replyOf(replies) };
  }
  if (userText.startsWith('seat')) {
    const ask = { name: 'elicit', arguments: { kind: 'text', message: 'Which seat?' } };
    return results.length > 0 ? { text: 'Seated.' } : { text: 'One moment. ', calls: [ask] };
  }
  const attempt = (attempts.get(userText) ?? 0) + 1;
  attempts.set(userText, attempt);
  return { text: wholeOf(attempt) };
}

function wholeOf(attempt: number): string {
  return `${`word-${attempt} `.repeat(WORDS)}end-${attempt}`;
}

beforeAll(async () => {
  chats = await openChatSite({ script: [line], delayMs: 15 });
});
afterAll(() => chats?.stop());

let talks = 0;
/** Starts a chat, waits for the first part of the reply, and returns it with the pod that serves it. */
async function startReply(make: (url: string, authorization: string) => PlainChat) {
  const { authorization } = await person();
  talks += 1;
  const text = `talk ${talks}`;
  const chat = make(chats.balancer.url, authorization);
  const sending = chat.sendMessage({ text });
  await waitUntil(() => chat.reply.includes('word-1'), { what: 'some of the reply' });
  return { chat, sending, text, authorization, pod: Number(chats.balancer.lastPod()) };
}

function stockChat(url: string, authorization: string): PlainChat {
  const transport = new DefaultChatTransport<UIMessage>({
    api: `${url}/run/api/chat`,
    headers: { authorization, 'x-supports-elicitation': 'true' },
  });
  return new PlainChat({ id: 'c1', transport });
}

function ourChat(url: string, authorization: string): PlainChat {
  const token = authorization.slice('Bearer '.length);
  const transport = createChatTransport({ baseUrl: url, token, retry: { firstDelayMs: 50 } });
  const chat = new PlainChat({ id: 'c1', transport });
  transport.attach(chat);
  return chat;
}

describe.each([
  ['is killed', 'SIGKILL'],
  ['is drained', 'SIGTERM'],
] as const)('a reply is streaming while its pod %s', (_what, how) => {
  it('the stock client shows the half reply and an error; resuming at once replaces it with the whole reply', async () => {
    const { chat, sending, text, pod } = await startReply(stockChat);
    const replaced = chats.replace(pod, how);
    await sending;
    expect([chat.status, chat.finishes.at(-1)?.isError, chat.messages.length]).toEqual(['error', true, 2]);
    expect(chat.reply).toMatch(/^(word-1 ?)+$/);
    // The stream is cut again where the unfinished step starts again: each cut causes one more resume.
    while (chat.status === 'error') {
      // Both are correct: the new reply replaces the half one, which may also be dropped earlier.
      if (how === 'SIGKILL') chat.messages = chat.messages.filter(({ role }) => role === 'user');
      await chat.resumeStream();
    }
    expect([chat.reply, chat.messages.length]).toEqual([wholeOf(attempts.get(text) ?? 0), 2]);
    expect(attempts.get(text)).toBeGreaterThan(1);
    await replaced;
  });

  it('the stock client keeps the half reply without an error when it resumes after the turn has ended', async () => {
    const { chat, sending, authorization, pod } = await startReply(stockChat);
    await Promise.all([chats.replace(pod, how), sending]);
    const half = chat.reply;
    const isOver = async () => {
      const url = `${chats.balancer.url}/run/api/chat/c1/stream`;
      const { status, body } = await fetch(url, { headers: { authorization } });
      await body?.cancel();
      return status === 204;
    };
    await waitUntil(isOver, { what: 'the end of the turn' });
    await chat.resumeStream();
    expect([chat.status, chat.reply]).toEqual(['ready', half]);
  });

  it('our client shows exactly the whole reply without any call', async () => {
    const { chat, text, pod } = await startReply(ourChat);
    await chats.replace(pod, how);
    await chat.untilSettled();
    expect([chat.status, chat.reply]).toEqual(['ready', wholeOf(attempts.get(text) ?? 0)]);
    expect(attempts.get(text)).toBeGreaterThan(1);
    expect([chat.errors, chat.messages.length]).toEqual([[], 2]);
    // The half reply was withdrawn as a whole: the two attempts were never shown as one.
    expect(chat.shown.filter((shown) => /word-1.*word-2/.test(shown))).toEqual([]);
  });
});

describe('a message of our client', () => {
  /** Creates a chat whose first message reaches the server but whose reply is lost; `meanwhile` runs before the retry. */
  async function chatThatLosesAReply(meanwhile: (url: string, authorization: string) => Promise<void>) {
    const { authorization } = await person();
    const { url } = chats.balancer;
    let posts = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const response = await globalThis.fetch(input, init);
      if (init?.method !== 'POST') return response;
      posts += 1;
      if (posts > 1) return response;
      await response.body?.cancel();
      await meanwhile(url, authorization);
      throw new TypeError('The reply was lost.');
    };
    const token = authorization.slice('Bearer '.length);
    const transport = createChatTransport({ baseUrl: url, token, fetch, retry: { firstDelayMs: 50 } });
    const chat = new PlainChat({ id: 'c1', transport });
    transport.attach(chat);
    talks += 1;
    return { chat, text: `talk ${talks}`, posts: () => posts };
  }

  async function untilOver(url: string, authorization: string): Promise<void> {
    const isOver = async () => {
      const { status, body } = await fetch(`${url}/run/api/chat/c1/stream`, { headers: { authorization } });
      await body?.cancel();
      return status === 204;
    };
    await waitUntil(isOver, { what: 'the end of the turn' });
  }

  it.each([
    ['runs', async () => undefined],
    ['has ended', untilOver],
  ])(
    'leads to one turn with a complete reply when its reply was lost while the turn %s',
    async (_when, meanwhile) => {
      const { chat, text, posts } = await chatThatLosesAReply(meanwhile);
      await chat.sendMessage({ text });
      await chat.untilSettled();
      expect([chat.status, chat.reply, chat.errors]).toEqual(['ready', wholeOf(1), []]);
      expect([posts(), attempts.get(text), chat.messages.length]).toEqual([2, 1, 2]);
    },
  );

  it('is taken after six turns with tool outputs of 48 kB', async () => {
    const { authorization } = await person();
    const chat = ourChat(chats.balancer.url, authorization);
    chat.messages = Array.from({ length: 6 }, (_, n): UIMessage[] => [
      { id: `u${n}`, role: 'user', parts: [{ type: 'text', text: 'list' }] },
      {
        id: `m${n}`,
        role: 'assistant',
        parts: [
          {
            type: 'dynamic-tool',
            toolName: 'list',
            toolCallId: `call${n}`,
            state: 'output-available',
            input: {},
            output: 'x'.repeat(48_000),
          },
          { type: 'text', text: 'Listed.' },
        ],
      },
    ]).flat();
    talks += 1;
    await chat.sendMessage({ text: `talk ${talks}` });
    expect([chat.status, chat.reply, chat.errors]).toEqual(['ready', wholeOf(1), []]);
  });
});

describe('a turn that is detached while it asks', () => {
  const inStock = (url: string, authorization: string) =>
    new PlainChat({
      id: 'c1',
      transport: new DefaultChatTransport<UIMessage>({
        api: `${url}/run/api/chat`,
        headers: { authorization, 'x-supports-elicitation': 'true', 'x-parley-delivery': 'detach' },
      }),
    });
  const inOurs = (url: string, authorization: string) => {
    const token = authorization.slice('Bearer '.length);
    const transport = createChatTransport({ baseUrl: url, token, delivery: 'detach' });
    const chat = new PlainChat({ id: 'c1', transport });
    transport.attach(chat);
    return chat;
  };

  it.each([
    ['stock', inStock],
    ['ours', inOurs],
  ])(
    '%s: the message ends with its question; resumed once that is answered, it is whole',
    async (_name, make) => {
      const { authorization } = await person();
      const chat = make(chats.balancer.url, authorization);
      await chat.sendMessage({ text: 'seat' });
      await chat.untilSettled();
      expect([chat.status, chat.reply, chat.errors]).toEqual(['ready', 'One moment. ', []]);
      expect(chat.messages.at(-1)?.metadata).toEqual({ parley: { state: 'waiting' } });
      const question = questionsIn(chat.messages.at(-1))[0];
      expect(question?.status).toBe('pending');
      const client = createClient({
        baseUrl: chats.balancer.url,
        token: authorization.slice('Bearer '.length),
      });
      await client.answer(question?.elicitationId ?? '', { action: 'accept', content: { answer: '12A' } });
      await chat.resumeStream();
      await chat.untilSettled();
      expect([chat.status, chat.reply, chat.errors]).toEqual(['ready', 'One moment. Seated.', []]);
      expect([chat.messages.length, questionsIn(chat.messages.at(-1)).length]).toEqual([2, 1]);
    },
  );
});

describe('a stream whose token expires while the turn waits', () => {
  it('continues with the next token in our client, without a visible effect', async () => {
    const { userId, authorization } = await person();
    const lasting = authorization.slice('Bearer '.length);
    let tokens = 0;
    const token = () => {
      tokens += 1;
      return tokens === 1 ? expiringToken(userId) : lasting;
    };
    const transport = createChatTransport({ baseUrl: chats.balancer.url, token });
    const chat = new PlainChat({ id: 'c1', transport });
    void chat.sendMessage({ text: 'seat' });
    await waitUntil(() => tokens > 1 && questionsIn(chat.messages.at(-1))[0], { what: 'question and token' });
    const id = questionsIn(chat.messages.at(-1))[0]?.elicitationId ?? '';
    const client = createClient({ baseUrl: chats.balancer.url, token: lasting });
    await client.answer(id, { action: 'accept', content: { answer: '12A' } });
    await chat.untilSettled();
    expect([chat.status, chat.reply, chat.errors]).toEqual(['ready', 'One moment. Seated.', []]);
    expect(chat.messages.at(-1)?.parts.map(({ type }) => type)).not.toContain('data-stream-closed');
  });

  it('ends with the error `token_expired` in the OpenAI format, which cannot resume', async () => {
    const { userId } = await person();
    const { body } = await fetch(`${chats.balancer.url}/run/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await expiringToken(userId)}`,
        'content-type': 'application/json',
        'x-supports-elicitation': 'true',
      },
      body: JSON.stringify({ model: 'helper', stream: true, messages: [{ role: 'user', content: 'seat' }] }),
    });
    let text = '';
    const reading = async () => {
      for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
    };
    await expect(reading()).rejects.toThrow();
    expect(text).toMatch(
      /data: {"error":{[^\n]*"code":"token_expired"}}\n\ndata: \[DONE\]\n\nretry: \d+\n\n$/,
    );
  });
});

await describeInChromium('a React page', (chromium) => {
  let pages: ReactPages;
  beforeAll(async () => {
    pages = await openReactPages({ chromium, apiUrl: chats.balancer.url });
  });
  afterAll(() => pages?.stop());

  const untilShown = (page: Page, text: string) =>
    waitUntil(async () => (await page.textContent('#root'))?.includes(text), {
      what: `"${text}" on the page`,
    });

  /** Waits until the page shows the beginning of a reply that is not the one of before. */
  async function untilReply(page: Page, after: number): Promise<number> {
    await waitUntil(
      async () => (await page.textContent('#root'))?.includes(`next-${replies}`) && replies > after,
      {
        what: 'the next reply',
      },
    );
    return replies;
  }

  it.each(['createChatTransport', 'DefaultChatTransport'] as const)(
    'with the component of the docs for %s shows each word once, through a kill, a drain and a reload',
    async (transport) => {
      const { authorization } = await person();
      const page = await pages.open(componentInDocs(transport), authorization.slice('Bearer '.length));
      const before = replies;
      isEndless = true;
      const [asked] = await Promise.all([
        page.waitForResponse((response) => response.request().method() === 'POST'),
        page.getByText('Ask').click(),
      ]);
      const first = await untilReply(page, before);
      isEndless = false;
      // The pod that took the message serves its turn; the page has asked others whether a turn runs.
      const owner = Number.parseInt(asked.headers()['x-parley-upstream'] ?? '', 10);
      const replaced = [chats.replace(owner, 'SIGKILL')];
      const second = await untilReply(page, first);
      replaced.push(chats.replace(Number(chats.balancer.lastPod()), 'SIGTERM'));
      await Promise.all(replaced);
      await page.reload();
      await untilShown(page, `last-${replies}`);
      expect(replies).toBeGreaterThanOrEqual(second);
      expect(await page.textContent('#root p:last-of-type')).toBe(replyOf(replies));
      // The maximum over all states of the page, before the reload and after it.
      expect(await pages.firstWordsMax(page)).toBe(1);
    },
  );
});
