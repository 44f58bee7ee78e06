import { type Approval, createClient } from '@parley/sdk';
import { createChatTransport } from '@parley/sdk/chat';
import { DefaultChatTransport, type UIMessage } from 'ai';
import OpenAI from 'openai';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { expiringToken, person, questionsIn } from '../../harness/chat/client.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';
import {
  approvalsPageInDocs,
  componentInDocs,
  openReactPages,
  type ReactPages,
} from '../../harness/chat/react-pages.ts';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import { describeInChromium } from '../../harness/in-chromium.ts';
import { sized } from '../../harness/proof-size.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { Death, Mourner } from './shared-death.ts';

const WORDS = 30;

let chats: ChatSite;
/** Number of model requests, by the text of the person. */
const attempts = new Map<string, number>();

/** What the model thinks before its replies to pages. */
let thoughts = '';
/** How many replies to pages the model has begun. */
let replies = 0;
const replyOf = (reply: number) => `first-${reply} ${`next-${reply} `.repeat(WORDS)}last-${reply}`;

/** Asks for a seat; else repeats one word, another word for each request: as with real models, no two replies are equal. */
export function streamingLine({ userText, results }: Turn): ScriptedReply | undefined {
  if (userText === 'Hello') {
    replies += 1;
    return { reasoning: thoughts, text: replyOf(replies) };
  }
  if (userText.startsWith('Book')) return bookingOf(userText, results);
  if (userText.startsWith('seat')) {
    const ask = { name: 'elicit', arguments: { kind: 'text', message: 'Which seat?' } };
    return results.length > 0 ? { text: 'Seated.' } : { text: 'One moment. ', calls: [ask] };
  }
  if (!userText.startsWith('talk')) return undefined;
  const attempt = (attempts.get(userText) ?? 0) + 1;
  attempts.set(userText, attempt);
  return { text: wholeOf(attempt) };
}

/** Books under each name after the first word, all in one step, and repeats the results. */
function bookingOf(userText: string, results: Turn['results']): ScriptedReply {
  if (results.length > 0) return { text: `Done: ${results.map(({ text }) => text).join(' | ')}.` };
  const names = userText.split(' ').slice(1);
  const call = (name: string) => ({ name: 'bookings__book', arguments: { name, round: 0 } });
  return { text: 'One moment. ', calls: names.map(call) };
}

function wholeOf(attempt: number): string {
  return `${`word-${attempt} `.repeat(WORDS)}end-${attempt}`;
}

let talks = 0;
/** Starts a chat, and waits for the first part of the reply, which is held. */
async function startReply(make: (url: string, authorization: string) => PlainChat) {
  const { authorization } = await person();
  talks += 1;
  const text = `talk ${talks}`;
  const chat = make(chats.balancer.url, authorization);
  const sending = chat.sendMessage({ text });
  await waitUntil(() => chat.reply.includes('word-1'), { what: 'some of the reply' });
  return { chat, sending, text, authorization };
}

type Started = Awaited<ReturnType<typeof startReply>>;

/** The reply of the last attempt at this message, whole. */
const wholeReplyTo = (text: string) => wholeOf(attempts.get(text) ?? 0);

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

/** Replies are streaming at the pod 0 when it ends. */
async function throughTheEnd(
  how: 'SIGKILL' | 'SIGTERM',
  { held, dies, goesOn }: Pick<Death, 'held' | 'dies' | 'goesOn'>,
): Promise<void> {
  await held();
  await chats.route(0);
  const starting = [stockChat, stockChat, ourChat].map(startReply);
  const [prompt, late, ours] = (await Promise.all(starting)) as [Started, Started, Started];
  await chats.route();
  const { replaced } = await dies();
  for (const { chat, sending } of [prompt, late]) {
    await sending;
    expect([chat.status, chat.finishes.at(-1)?.isError, chat.messages.length]).toEqual(['error', true, 2]);
    expect(chat.reply).toMatch(/^(word-1 ?)+$/);
  }
  const half = late.chat.reply;

  let resumed: Promise<void> | undefined;
  const showsAnotherAttempt = () => {
    const attempt = attempts.get(prompt.text) ?? 0;
    // The stream is cut again where the unfinished step starts again: each cut causes one more resume.
    if (prompt.chat.status === 'error') {
      // Both are correct: the new reply replaces the half one, which may also be dropped earlier.
      if (how === 'SIGKILL')
        prompt.chat.messages = prompt.chat.messages.filter(({ role }) => role === 'user');
      resumed = prompt.chat.resumeStream();
    }
    return attempt > 1 && prompt.chat.reply.includes(`word-${attempt}`);
  };
  await waitUntil(showsAnotherAttempt, { what: 'another attempt', timeoutMs: 90_000 });
  await waitUntil(() => (attempts.get(ours.text) ?? 0) > 1, {
    what: 'another attempt',
    timeoutMs: 90_000,
  });
  await goesOn();

  // A stock client that resumes at once replaces its half reply.
  await resumed;
  expect([prompt.chat.reply, prompt.chat.messages.length]).toEqual([wholeReplyTo(prompt.text), 2]);

  // Ours shows exactly the whole reply without any call.
  await ours.chat.untilSettled();
  expect([ours.chat.status, ours.chat.reply]).toEqual(['ready', wholeReplyTo(ours.text)]);
  expect([ours.chat.errors, ours.chat.messages.length]).toEqual([[], 2]);
  // The half reply was withdrawn as a whole: the two attempts were never shown as one.
  expect(ours.chat.shown.filter((shown) => /word-1.*word-2/.test(shown))).toEqual([]);

  // A stock client that resumes after the turn has ended keeps its half reply, without an error.
  await chats.untilOver(late.authorization, 'c1');
  await late.chat.resumeStream();
  expect([late.chat.status, late.chat.reply]).toEqual(['ready', half]);
  await replaced;
}

const shownWhile = (what: string) =>
  `replies are streaming while their pod ${what}: stock clients show an error, and ours shows the whole reply`;

/** Replies whose pod is killed. */
export const repliesThatBreak: Mourner = {
  name: shownWhile('is killed'),
  test: (death) => throughTheEnd('SIGKILL', death),
};

/** Tests of clients whose streams break, and of their decisions. */
export async function streams(the: () => ChatSite): Promise<void> {
  beforeAll(() => {
    chats = the();
  });

  it(shownWhile('is drained'), () =>
    throughTheEnd('SIGTERM', {
      held: async () => chats.gate.hold(),
      dies: async () => ({ replaced: chats.replace(0, 'SIGTERM') }),
      goesOn: async () => chats.gate.release(),
    }),
  );

  describe('a message of our client', () => {
    /** Creates a chat whose first message reaches the server but whose reply is lost; `inBetween` runs before the retry. */
    async function chatThatLosesAReply(inBetween: (authorization: string) => Promise<void>) {
      const { authorization } = await person();
      const { url } = chats.balancer;
      let posts = 0;
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await globalThis.fetch(input, init);
        if (init?.method !== 'POST') return response;
        posts += 1;
        if (posts > 1) return response;
        await response.body?.cancel();
        await inBetween(authorization);
        throw new TypeError('The reply was lost.');
      };
      const token = authorization.slice('Bearer '.length);
      const transport = createChatTransport({ baseUrl: url, token, fetch, retry: { firstDelayMs: 50 } });
      const chat = new PlainChat({ id: 'c1', transport });
      transport.attach(chat);
      talks += 1;
      return { chat, text: `talk ${talks}`, authorization, posts: () => posts };
    }

    it.each([
      ['runs', async () => undefined],
      ['has ended', (authorization: string) => chats.untilOver(authorization, 'c1')],
    ])(
      'leads to one turn with a complete reply when its reply was lost while the turn %s',
      async (_when, inBetween) => {
        const { chat, text, authorization, posts } = await chatThatLosesAReply(inBetween);
        await chat.sendMessage({ text });
        await chat.untilSettled();
        expect([chat.status, chat.reply, chat.errors]).toEqual(['ready', wholeReplyTo(text), []]);
        expect([posts(), chat.messages.length]).toEqual([2, 2]);
        const history = await fetch(`${chats.balancer.url}/run/api/chat/c1/messages`, {
          headers: { authorization },
        });
        expect(((await history.json()) as { messages: unknown[] }).messages).toHaveLength(2);
      },
    );
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
      await waitUntil(() => tokens > 1 && questionsIn(chat.messages.at(-1))[0], {
        what: 'question and token',
      });
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
        body: JSON.stringify({
          model: 'helper',
          stream: true,
          messages: [{ role: 'user', content: 'seat' }],
        }),
      });
      let text = '';
      const reading = async () => {
        for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) text += piece;
      };
      await expect(reading()).rejects.toThrow();
      expect(text).toMatch(/data: {"error":{[^\n]*"code":"token_expired"}}\n\ndata: \[DONE\]\n\n$/);
    });
  });

  /** Begins a turn of the desk, and waits until its calls wait for the person. */
  async function bookingFor(authorization: string, text: string): Promise<readonly Approval[]> {
    const headers = { authorization, 'content-type': 'application/json' };
    const messages = [{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }];
    const body = JSON.stringify({ id: 'c1', agent: 'desk', messages });
    const { url } = chats.balancer;
    const reply = await fetch(`${url}/run/api/chat`, { method: 'POST', headers, body });
    // The stream ends while the turn waits for approvals only.
    await reply.text();
    const { approvals } = (await (await fetch(`${url}/v1/approvals?status=pending`, { headers })).json()) as {
      readonly approvals: readonly Approval[];
    };
    return approvals;
  }

  it('a message in the OpenAI format denies the calls that wait, and is answered', async () => {
    const { authorization } = await person();
    const [approval] = await bookingFor(authorization, 'Book openai-table');
    const client = new OpenAI({
      baseURL: `${chats.pods[1]?.url}/run/v1`,
      apiKey: authorization.slice('Bearer '.length),
      maxRetries: 0,
    });
    const message = { role: 'user' as const, content: 'hello' };
    const body = { model: 'desk', messages: [message], conversationId: 'c1' };
    const { choices } = await client.chat.completions.create(body);
    expect(choices[0]?.message.content).toBe('You said hello.');
    const path = `${chats.pods[2]?.url}/v1/approvals/${approval?.approvalId}`;
    const after = (await (await fetch(path, { headers: { authorization } })).json()) as Approval;
    expect(after).toMatchObject({ status: 'denied', reason: 'hello', settledBy: { surface: 'message' } });
    expect(chats.booked).not.toContain('openai-table');
  });

  describe('an approval that is approved, edited and denied at once, on three pods', () => {
    it.each(Array.from({ length: sized(40, 4) }, (_, round) => round))(
      'is decided once, and the call is made with what won (%i)',
      async (round) => {
        const { userId, authorization } = await person();
        const [original, edited] = [`${userId}-${round}`, `${userId}-${round}-edited`];
        const [approval] = await bookingFor(authorization, `Book ${original}`);
        const path = `/v1/approvals/${approval?.approvalId}`;
        const headers = { authorization, 'content-type': 'application/json' };
        const DECISIONS = [
          { decision: 'approve' },
          { decision: 'edit', arguments: { name: edited, round: 0 } },
          { decision: 'deny', reason: 'Not now.' },
        ];
        // Each decision goes to two pods, in an order that differs by the round.
        const sent = [0, 1, 2, 3, 4, 5].map((at) => ({
          body: DECISIONS[(at + round) % 3],
          url: chats.pods[(at * 2 + Math.trunc(at / 3)) % 3]?.url,
        }));
        const replies = await Promise.all(
          sent.map(async ({ body, url }) => {
            const reply = await fetch(`${url}${path}/response`, {
              method: 'POST',
              headers,
              body: JSON.stringify(body),
            });
            return {
              decision: body?.decision,
              status: reply.status,
              body: (await reply.json()) as Record<string, unknown>,
            };
          }),
        );
        const won = replies.filter(({ status }) => status === 200);
        const winner = won[0]?.decision ?? '';
        expect(won.map(({ decision }) => decision)).toEqual([winner, winner]);
        for (const { body } of won) expect(body).toMatchObject({ decision: winner });
        for (const { status, body } of replies.filter((reply) => !won.includes(reply))) {
          expect([status, body.code, body.approval]).toMatchObject([
            409,
            'already_settled',
            { decision: winner },
          ]);
        }
        await chats.untilOver(authorization, 'c1');
        const made = chats.booked.filter((name) => name.startsWith(original));
        expect(made).toEqual({ approve: [original], edit: [edited], deny: [] }[winner]);
      },
    );
  });

  /** A page with the inbox of the widget. */
  const INBOX_PAGE = `
import { ElicitationInbox } from '@parley/widget/react';
import { createElicitationServer } from '@parley/widget/server';
const server = createElicitationServer({ getToken: () => userToken() });
function Support() {
  return <ElicitationInbox server={server} />;
}
`;

  await describeInChromium('a React page', (chromium) => {
    let pages: ReactPages;
    beforeAll(async () => {
      pages = await openReactPages({ chromium, apiUrl: chats.balancer.url });
    });
    afterAll(() => pages?.stop());

    const untilShown = (page: Page, text: string) =>
      waitUntil(async () => (await page.textContent('#root'))?.includes(text), {
        what: `"${text}" on the page`,
        everyMs: 100,
      });

    const callsOf = (page: Page) =>
      page
        .locator('fieldset')
        .evaluateAll((calls) => calls.map((call) => (call as HTMLElement).dataset.state));

    const write = async (page: Page, text: string) => {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
    };
    const openStockPage = async (version: 6 | 7 = 6) => {
      const { authorization, userId } = await person();
      const token = authorization.slice('Bearer '.length);
      return { page: await pages.open(approvalsPageInDocs(), token, version), userId, authorization };
    };

    it.each([6, 7] as const)(
      'made for the tool approvals of ai %i approves one call and denies another',
      async (version) => {
        const before = chats.booked.length;
        const made = () => chats.booked.slice(before).filter((name) => ['both', 'flights'].includes(name));
        const { page } = await openStockPage(version);
        await write(page, 'Book both flights');
        await page.getByRole('button', { name: 'Deny' }).nth(1).waitFor();
        expect(await callsOf(page)).toEqual(['approval-requested', 'approval-requested']);
        expect(made()).toEqual([]);
        await page.getByRole('button', { name: 'Deny' }).nth(1).click();
        await page.getByRole('button', { name: 'Approve' }).click();
        await untilShown(page, 'Done: booked for both');
        expect(await callsOf(page)).toEqual(['output-available', 'output-denied']);
        expect(made()).toEqual(['both']);
        expect((await page.textContent('#root'))?.split('One moment.')).toHaveLength(2);
        await page.context().close();
      },
    );

    it('made for the tool approvals of the AI SDK takes a message while approvals wait, and loses no click', async () => {
      const { page, userId, authorization } = await openStockPage();
      const [first, second] = [`${userId}-first`, `${userId}-second`];
      await write(page, `Book ${first}`);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      // Refused: it goes back to where it was written. The click that follows is posted, and again after it was refused.
      const refused = { status: 429, headers: { 'retry-after': '1' }, body: 'Too many.' };
      await page.route('**/run/api/chat', (call) => call.fulfill(refused), { times: 2 });
      await write(page, `Book ${second}`);
      await page.getByText('That did not work.').waitFor();
      expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe(`Book ${second}`);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('button', { name: 'Send the decisions again' }).click();
      await untilShown(page, `Done: booked for ${first}`);
      expect(chats.booked).toContain(first);
      await chats.untilOver(authorization, 'c1');

      await write(page, `Book ${first}`);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      await write(page, `Book ${second}`);
      await page.locator('section').nth(5).getByRole('button', { name: 'Approve' }).click();
      await untilShown(page, `Done: booked for ${second}`);
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      expect(chats.booked.filter((name) => name.startsWith(userId))).toEqual([first, second]);
      await page.context().close();
    });

    it('with the inbox approves, edits and denies calls of one step, remembers one and forgets it again', async () => {
      const { userId, authorization } = await person();
      const named = (name: string) => `${userId}-${name}`;
      const made = () => chats.booked.filter((name) => name.startsWith(`${userId}-`)).sort();
      // What a call came to is shown, and said for those who listen, one after the other.
      const page = await pages.open(INBOX_PAGE, authorization.slice('Bearer '.length));
      await bookingFor(authorization, `Book ${named('one')} ${named('two')} ${named('three')}`);
      await page.getByRole('button', { name: 'Desk wants to make 3 calls' }).click();
      const call = (name: string) => page.locator('approval-card .call').filter({ hasText: named(name) });
      await call('one').getByRole('button', { name: 'Edit' }).click();
      const round = page.getByRole('textbox', { name: 'round' });
      await round.fill('1.5');
      await page.getByRole('button', { name: 'Approve with these changes' }).click();
      await page.getByText('Please enter a whole number.').first().waitFor();
      await round.fill('7');
      await page.getByRole('textbox', { name: 'name' }).fill(named('four'));
      await page.getByRole('button', { name: 'Approve with these changes' }).click();
      await page.getByText('You approved this with changes.', { exact: true }).waitFor();
      await call('two').getByRole('button', { name: 'Deny' }).click();
      await page.getByRole('textbox', { name: 'Reason' }).fill('Too early.');
      await call('two').getByRole('button', { name: 'Deny' }).click();
      await page.getByText('Reason: Too early.').first().waitFor();
      await call('three').getByRole('checkbox', { name: 'Do not ask again' }).check();
      await call('three').getByRole('button', { name: 'Approve' }).click();
      await page.getByText('You approved this.', { exact: true }).first().waitFor();
      await chats.untilOver(authorization, 'c1');
      expect(made()).toEqual([named('four'), named('three')]);
      expect(await bookingFor(authorization, `Book ${named('five')}`)).toEqual([]);
      expect(made()).toHaveLength(3);
      await page.getByText('Remembered approvals').click();
      await page.getByText('in one conversation').first().waitFor();
      await page.getByRole('button', { name: 'Revoke' }).click();
      await page.getByText('Nothing is remembered').first().waitFor();
      const [again] = await bookingFor(authorization, `Book ${named('six')}`);
      expect(again?.status).toBe('pending');
      await page.getByRole('button', { name: 'Desk wants to use' }).waitFor();
      await page.context().close();
    });

    /** The number of the reply that a page shows; undefined before its first word. */
    const shownOn = async (page: Page) =>
      Number(/first-(\d+)/.exec((await page.textContent('#root')) ?? '')?.[1]);

    /** Waits until the page shows the beginning of a reply after that one; returns its number. */
    const untilReply = (page: Page, after: number): Promise<number> =>
      waitUntil(
        async () => {
          const shown = await shownOn(page);
          return shown > after && shown;
        },
        { what: 'the next reply', timeoutMs: 90_000, everyMs: 100 },
      );

    it('with the component of the docs shows that the model thinks, also after a reload and in a second tab, and never what', async () => {
      const { authorization } = await person();
      thoughts = 'Nobody may read what is thought here, no matter who asks for it.';
      chats.gate.hold();
      const component = componentInDocs('createChatTransport');
      const open = () => pages.open(component, authorization.slice('Bearer '.length));
      const page = await open();
      await page.getByRole('button', { name: 'Ask' }).click();
      await page.getByText('Thinking …').waitFor();
      await page.reload();
      const tabs = [page, await open()];
      for (const tab of tabs) await tab.getByText('Thinking …').waitFor();
      chats.gate.release();
      thoughts = '';
      for (const tab of tabs) {
        await untilShown(tab, `last-${replies}`);
        await expect.poll(() => tab.textContent('#root')).not.toMatch(/Thinking|Nobody/);
        await tab.context().close();
      }
    });

    it('with the components of the docs shows each word once, through a kill, a drain and a reload', async () => {
      const all = await Promise.all(
        (
          [
            ['createChatTransport', 6],
            ['createChatTransport', 7],
            ['DefaultChatTransport', 6],
            ['DefaultChatTransport', 7],
          ] as const
        ).map(async ([transport, version]) => {
          const { authorization } = await person();
          const token = authorization.slice('Bearer '.length);
          return {
            authorization,
            page: await pages.open(componentInDocs(transport), token, version),
            shown: 0,
          };
        }),
      );
      const untilNext = async () => {
        for (const one of all) one.shown = await untilReply(one.page, one.shown);
      };
      chats.gate.hold();
      await chats.route(0);
      for (const { page } of all) await page.getByText('Ask').click();
      await untilNext();
      await chats.route();
      await chats.replace(0, 'SIGKILL');
      await untilNext();
      const owners = await Promise.all(all.map(({ authorization }) => chats.ownerOf(authorization, 'c1')));
      for (const at of new Set(owners)) await chats.replace(at, 'SIGTERM');
      for (const { page, shown } of all) {
        await untilReply(page, shown);
        await page.reload();
        await untilReply(page, shown);
      }
      chats.gate.release();
      for (const { authorization, page, shown } of all) {
        await chats.untilOver(authorization, 'c1');
        // No further reply can begin.
        const last = await untilReply(page, shown);
        await expect.poll(() => page.textContent('#root p:last-of-type')).toBe(replyOf(last));
        // The maximum over all states of the page, before the reload and after it.
        expect(await pages.firstWordsMax(page)).toBe(1);
      }
    });
  });
}
