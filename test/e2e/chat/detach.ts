import OpenAI from 'openai';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createChatClient, person, questionIn, questionsIn, textOf } from '../../harness/chat/client.ts';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import type { SitePod } from '../../harness/site/site.ts';
import type { Mourner } from './shared-death.ts';

const WAITING = { parley: { state: 'waiting' } };

let chats: ChatSite;
/** A pod that holds turns for a second. */
let held: SitePod | undefined;

const { say, resume, post } = createChatClient((pod) => chats.pods[pod]?.url ?? held?.url ?? '');

async function answer(pod: number, authorization: string, conversationId: string, elicitationId: string) {
  const body = { conversationId, elicitationId, action: 'accept', content: { answer: 'green' } };
  const reply = await post(pod, '/run/api/elicitation-responses', authorization, body);
  expect(reply.status).toBe(200);
}

/** Tests of turns that are detached while they ask. */
export function detachedTurns(the: () => ChatSite): void {
  describe('a turn that is detached while it asks', () => {
    beforeAll(() => {
      chats = the();
    });

    it('a reply in the OpenAI format also ends at the question on request, and an invalid delivery is refused', async () => {
      const { authorization } = await person();
      const client = (delivery: string) =>
        new OpenAI({
          baseURL: `${chats.pods[1]?.url}/run/v1`,
          apiKey: authorization.slice('Bearer '.length),
          maxRetries: 0,
          defaultHeaders: { 'x-supports-elicitation': 'true', 'x-parley-delivery': delivery },
        });
      const chunks = await client('detach').chat.completions.create({
        model: 'helper',
        messages: [{ role: 'user', content: 'ask' }],
        stream: true,
      });
      let text = '';
      let reason: unknown;
      for await (const { choices } of chunks) {
        text += choices[0]?.delta.content ?? '';
        reason = choices[0]?.finish_reason ?? reason;
      }
      expect(reason).toBe('stop');
      expect(text).toContain('Which colour?');
      const wrong = client('later').chat.completions.create({
        model: 'helper',
        messages: [{ role: 'user', content: 'ask' }],
        stream: true,
      });
      await expect(wrong).rejects.toMatchObject({ status: 400 });
    });

    it('a held turn is detached after the hold time of the pods', async () => {
      const { authorization } = await person();
      held = await chats.site.pod({ ...chats.env, PARLEY_HOLD_SECONDS: '1' });
      onTestFinished(async () => void (await held?.stop()));
      const chat = await say({ authorization, text: 'ask', chatId: 'detach-4', pod: 3 });
      expect((await chat.done)?.metadata).toEqual(WAITING);
      await answer(1, authorization, 'detach-4', questionIn(chat.seen.message)?.elicitationId ?? '');
      const after = await (await resume(0, authorization, 'detach-4'))?.done;
      expect(textOf(after)).toContain('green');
    });
  });
}

/** A turn that was detached while it asks. */
export const detachedTurn: Mourner = {
  name: 'a detached turn ends its stream with its question; a second pod takes the answer, a third streams the rest',
  async test({ dies }) {
    const { authorization } = await person();
    const chat = await say({ authorization, text: 'ask', chatId: 'detach-1', delivery: 'detach' });
    const message = await chat.done;
    const question = questionIn(message);
    expect(question).toMatchObject({ status: 'pending', message: 'Which colour?' });
    expect(message?.metadata).toEqual(WAITING);
    await (await dies()).replaced;

    const still = await resume(2, authorization, 'detach-1');
    expect((await still?.done)?.metadata).toEqual(WAITING);
    expect(questionsIn(still?.seen.message)).toHaveLength(1);

    await answer(1, authorization, 'detach-1', question?.elicitationId ?? '');
    const after = await (await resume(2, authorization, 'detach-1'))?.done;
    expect(textOf(after)).toMatch(/^One moment\. Heard .*green.*\.$/);
    expect(after?.id).toBe(message?.id);
    expect(after?.metadata).toEqual({ parley: { state: 'finished' } });
    expect(questionsIn(after).map(({ status }) => status)).toEqual(['accepted']);
    // A reader without a stream during the turn can still read all of it, on any pod.
    const later = await (await resume(1, authorization, 'detach-1'))?.done;
    expect([later?.id, textOf(later)]).toEqual([message?.id, textOf(after)]);
  },
};
