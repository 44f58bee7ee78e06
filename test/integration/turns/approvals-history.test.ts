import { randomUUID } from 'node:crypto';
import { isToolUIPart, lastAssistantMessageIsCompleteWithToolCalls, type UIMessage } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AcpSite, openAcpSite } from '../../harness/acp/setup.ts';
import { AI_VERSIONS } from '../../harness/chat/ai-versions.ts';
import { type PlainChat, plainChatOf } from '../../harness/chat/plain-chat.ts';

let site: AcpSite;
beforeAll(async () => {
  site = await openAcpSite();
});
afterAll(() => site?.stop());

interface History {
  readonly messages: UIMessage[];
  readonly isRunning: boolean;
}

/** Pages of one person, each with a stock chat of the AI SDK. */
async function personOf(conversationId: string, ai = AI_VERSIONS[0].ai) {
  const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } = ai;
  const PlainChat = plainChatOf(AbstractChat);
  const authorization = `Bearer ${await site.token(randomUUID())}`;
  const headers = { authorization, 'x-supports-elicitation': 'true' };
  return {
    async history(query = ''): Promise<History> {
      const reply = await fetch(`${site.url}/run/api/chat/${conversationId}/messages${query}`, { headers });
      expect(reply.status).toBe(200);
      return (await reply.json()) as History;
    },
    openPage(messages: UIMessage[] = []) {
      const chat = new PlainChat({
        id: conversationId,
        transport: new DefaultChatTransport<UIMessage>({ api: `${site.url}/run/api/chat`, headers }),
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      });
      chat.messages = messages;
      return chat;
    },
  };
}

const callsOf = (messages: readonly UIMessage[]) =>
  messages.flatMap(({ parts }) => parts).filter(isToolUIPart);

const textsOf = (messages: readonly UIMessage[]) =>
  messages.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''));

it.each(AI_VERSIONS)(
  'with ai $version, an approval that is pending is shown by a page with messages from the history, and decided there',
  async ({ ai }) => {
    const person = await personOf(randomUUID(), ai);
    await person.openPage().sendMessage({ text: 'pay pay' });
    expect((await person.history()).messages.map(({ role }) => role)).toEqual(['user']);

    const { messages, isRunning } = await person.history('?reply=waiting');
    expect(isRunning).toBe(true);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    const page = person.openPage(messages);
    const asked = callsOf(page.messages);
    expect(asked).toMatchObject([
      { toolName: 'pay', state: 'approval-requested', approval: { id: expect.any(String) } },
      { toolName: 'pay', state: 'approval-requested', approval: { id: expect.any(String) } },
    ]);
    await page.addToolApprovalResponse({ id: asked[0]?.approval?.id ?? '', approved: true });
    await page.addToolApprovalResponse({
      id: asked[1]?.approval?.id ?? '',
      approved: false,
      reason: 'Twice.',
    });
    await expect.poll(() => page.reply).toContain('Heard:');
    await expect.poll(() => page.status).toBe('ready');
    expect(page.errors).toEqual([]);
    expect(page.reply.match(/One moment/g)).toHaveLength(1);

    await expect.poll(async () => (await person.history('?reply=waiting')).isRunning).toBe(false);
    const read = await person.history('?reply=waiting');
    const ended = [
      { state: 'output-available', approval: { id: asked[0]?.approval?.id, approved: true } },
      { state: 'output-denied', approval: { id: asked[1]?.approval?.id, approved: false, reason: 'Twice.' } },
    ];
    expect(callsOf(read.messages)).toMatchObject(ended);
    expect(await person.history()).toEqual(read);
    expect(callsOf(page.messages)).toMatchObject([{ state: 'output-available' }, { state: 'output-denied' }]);
    // A page that posts when calls have ended does so for calls of its own only, also where a turn ended with its calls.
    const calls = [...callsOf(page.messages), ...callsOf(read.messages)].filter(
      ({ state }) => state === 'output-available',
    );
    expect(calls).toHaveLength(2);
    for (const call of calls)
      expect(
        lastAssistantMessageIsCompleteWithToolCalls({
          messages: [{ id: 'm', role: 'assistant', parts: [call] }],
        }),
      ).toBe(false);
  },
);

describe('a message while approvals wait', () => {
  const NEXT = 'No, \u0394 first.';
  const denied = (...ids: unknown[]) =>
    ids.map((id) => ({ state: 'output-denied', approval: { id, approved: false, reason: NEXT } }));
  /** A page whose calls wait for their approval. */
  async function waiting(text = 'pay pay') {
    const person = await personOf(randomUUID());
    const page = person.openPage();
    await page.sendMessage({ text });
    const ids = callsOf(page.messages).map(({ approval }) => approval?.id ?? '');
    return { ...person, page, ids };
  }

  it.each([
    ['sendMessage', NEXT, (page: PlainChat) => page.sendMessage({ text: NEXT })],
    ['regenerate', 'pay pay', (page: PlainChat) => page.regenerate()],
  ])('denies their calls by its text and is answered: %s', async (_how, reason, send) => {
    const { page, ids, history } = await waiting();
    await send(page);
    expect([page.status, page.errors]).toEqual(['ready', []]);
    const { messages } = await history('?reply=waiting');
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(callsOf(messages).slice(0, 2)).toMatchObject(
      denied(...ids).map((call) => ({ ...call, approval: { ...call.approval, reason } })),
    );
    // The model said nothing of the denial: its next word is the answer.
    expect(textsOf(messages)).toEqual(['pay pay', 'One moment.', reason, page.reply]);
    expect(page.reply).toBe(reason === NEXT ? `Hello: ${NEXT}` : 'One moment.');
  });

  it('is not lost where it was not taken, and neither is a click above it', async () => {
    const { page, ids, history } = await waiting();
    page.messages = [...page.messages, { id: 'u2', role: 'user', parts: [{ type: 'text', text: NEXT }] }];
    await page.addToolApprovalResponse({ id: ids[0] ?? '', approved: true });
    // A click that is not sent yet is shown as not made once the turn is read again.
    await page.resumeStream();
    expect(callsOf(page.messages).map(({ state }) => state)).toEqual([
      'approval-requested',
      'approval-requested',
    ]);
    await page.addToolApprovalResponse({ id: ids[0] ?? '', approved: true });
    await page.addToolApprovalResponse({ id: ids[1] ?? '', approved: false });
    expect(page.status).toBe('ready');
    await page.sendMessage();
    expect(page.errors).toEqual([]);
    expect(callsOf(page.messages).map(({ state }) => state)).toEqual(['output-available', 'output-denied']);
    await page.regenerate();
    expect(page.reply).toBe(`Hello: ${NEXT}`);
    expect((await history()).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  it('counts after the clicks that come with it', async () => {
    const { page, ids, history } = await waiting();
    await page.addToolApprovalResponse({ id: ids[0] ?? '', approved: true });
    await page.sendMessage({ text: NEXT });
    expect([page.reply, page.errors]).toEqual([`Hello: ${NEXT}`, []]);
    const [first, second] = callsOf((await history()).messages);
    expect(first).toMatchObject({ state: 'output-available', output: 'paid' });
    expect([second]).toMatchObject(denied(ids[1]));
  });

  it('is refused while anything else of the turn goes on, and the approvals stay', async () => {
    const { openPage } = await personOf(randomUUID());
    const page = openPage();
    void page.sendMessage({ text: 'pay colour' });
    await expect.poll(() => callsOf(page.messages).map(({ state }) => state)).toContain('approval-requested');
    const tab = openPage();
    await tab.sendMessage({ text: NEXT });
    expect(tab.errors.map(String).join()).toContain('turn_running');
    expect(callsOf(page.messages)[0]?.state).toBe('approval-requested');
    await page.stop();
  });
});

it('a reply that waits for a question, too, is read from its stream', async () => {
  const person = await personOf(randomUUID());
  const page = person.openPage();
  void page.sendMessage({ text: 'pay colour' });
  await expect.poll(() => callsOf(page.messages).map(({ state }) => state)).toContain('approval-requested');
  expect((await person.history('?reply=waiting')).messages.map(({ role }) => role)).toEqual(['user']);
  await page.stop();
});
