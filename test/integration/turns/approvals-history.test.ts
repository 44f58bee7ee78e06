import { randomUUID } from 'node:crypto';
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AcpSite, openAcpSite } from '../../harness/acp/setup.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';

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
async function personOf(conversationId: string) {
  const authorization = `Bearer ${await site.token(randomUUID())}`;
  const headers = { authorization, 'x-supports-elicitation': 'true' };
  return {
    async history(query = ''): Promise<History> {
      const reply = await fetch(`${site.url}/run/api/chat/${conversationId}/messages${query}`, { headers });
      expect(reply.status).toBe(200);
      return (await reply.json()) as History;
    },
    openPage(messages: UIMessage[] = []): PlainChat {
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

it('an approval that is pending is shown by a page with messages from the history, and decided there', async () => {
  const person = await personOf(randomUUID());
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
  await page.addToolApprovalResponse({ id: asked[1]?.approval?.id ?? '', approved: false, reason: 'Twice.' });
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
});

it('a reply that waits for a question, too, is read from its stream', async () => {
  const person = await personOf(randomUUID());
  const page = person.openPage();
  void page.sendMessage({ text: 'pay colour' });
  await expect.poll(() => callsOf(page.messages).map(({ state }) => state)).toContain('approval-requested');
  expect((await person.history('?reply=waiting')).messages.map(({ role }) => role)).toEqual(['user']);
  await page.stop();
});
