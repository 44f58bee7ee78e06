import assert from 'node:assert/strict';
import { waitUntil } from '../../../harness/wait-until.ts';
import { LATER } from '../agents.ts';
import { must, textOf, untilAsked } from '../client.ts';
import type { Row, World } from '../rows.ts';
import { MODEL_PAUSE_MS, TOKENS_A_DAY, TOOL_PAUSE_MS } from '../settings.ts';
import { after, DAY, MINUTE, SECOND } from '../times.ts';

const CONVERSATION = 30 * DAY;
const HOLD = 300 * SECOND;

/** The conversations that a person sees. */
async function chatsOf({ client, stage }: World, userId: string): Promise<string[]> {
  const reply = must(
    await client.call('GET', '/run/api/chats', { token: await stage.issuer.token(userId) }),
    200,
  );
  return (reply.body.conversations as { conversationId: string }[]).map(
    ({ conversationId }) => conversationId,
  );
}

/** Turns of agents: waits of days, conversations of a month, quotas of a day. */
export const CHAT_STORIES: readonly Row[] = [
  {
    name: 'a turn waits six days for its person, detached after five minutes, and goes on',
    documented: 'docs/agents.md (PARLEY_HOLD_SECONDS)',
    isDaily: true,
    lateness: 'a minute for the detachment; none for the answer',
    async story({ client, clock, stage }) {
      const turn = await client.say('patient', 'talk', 'ask');
      const elicitationId = await untilAsked(turn);
      const askedAt = Date.now();
      await clock.until(askedAt + HOLD - 30 * SECOND);
      assert.equal(turn.endedAt(), undefined);
      await clock.until(askedAt + HOLD + MINUTE);
      assert.notEqual(turn.endedAt(), undefined);
      await clock.until(askedAt + 6 * DAY);
      const token = await stage.issuer.token('patient');
      const body = { conversationId: 'talk', elicitationId, action: 'accept', content: { answer: 'blue' } };
      must(await client.call('POST', '/run/api/elicitation-responses', { token, body }), 200);
      const goesOn = async () => {
        const stream = await client.stream('GET', '/run/api/chat/talk/stream', { token });
        await waitUntil(() => stream.endedAt() !== undefined, { what: 'the end of the resumed turn' });
        return textOf(stream).includes('blue');
      };
      await waitUntil(goesOn, { what: 'the resumed turn' });
      return 'detached five minutes after its question, resumed on day 6';
    },
  },
  {
    name: 'a conversation is continued after 29 days, and is gone 30 days after its last turn',
    documented: 'docs/security.md (messages of a chat), docs/configuration.md (PARLEY_CONVERSATION_SECONDS)',
    isDaily: true,
    lateness: 'a minute',
    async story(world) {
      const { client, clock } = world;
      await client.chat('reader', 'old', 'short');
      const begunAt = Date.now();
      await client.chat('reader', 'kept', 'first');
      await clock.until(begunAt + 29 * DAY);
      assert.match(await client.chat('reader', 'kept', 'second'), /first \| second/);
      await clock.until(begunAt + CONVERSATION - MINUTE);
      assert.deepEqual(await chatsOf(world, 'reader'), ['kept', 'old']);
      await clock.until(begunAt + CONVERSATION + MINUTE);
      assert.deepEqual(await chatsOf(world, 'reader'), ['kept']);
      assert.equal(await client.chat('reader', 'old', 'anew'), 'Heard: anew');
      return 'remembered on day 29; the other one listed until day 30, then unknown';
    },
  },
  {
    name: 'the tokens of a day count for a day from their first use',
    documented: 'docs/security.md (Quotas)',
    isDaily: true,
    lateness: 'a second after what Retry-After says',
    async story({ client, clock, stage }) {
      const much = 'word '.repeat(TOKENS_A_DAY);
      await client.chat('eager', 'long', 'hello');
      const firstAt = Date.now();
      await clock.until(firstAt + 6 * 60 * MINUTE);
      await client.chat('eager', 'long', much);
      const again = async () =>
        client.call('POST', '/run/api/chat', {
          token: await stage.issuer.token('eager'),
          body: {
            id: 'long',
            stream: false,
            messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }],
          },
        });
      const refused = await again();
      assert.deepEqual([refused.status, refused.body.code], [429, 'token_quota']);
      const retryMs = Number(refused.headers['retry-after']) * SECOND;
      const leftMs = firstAt + DAY - Date.now();
      assert.ok(Math.abs(retryMs - leftMs) < MINUTE, `Retry-After ${retryMs} ms of ${leftMs} ms`);
      await clock.until(firstAt + DAY - MINUTE);
      assert.equal((await again()).status, 429);
      await clock.until(firstAt + DAY + SECOND);
      must(await again(), 200);
      return `refused with Retry-After ${retryMs / SECOND} s, taken a day after the first use`;
    },
  },
  {
    name: 'the record of a turn is kept for a day after its end, and its words for longer',
    documented: 'docs/security.md (by step), docs/configuration.md (PARLEY_RETENTION_SECONDS)',
    lateness: 'a minute',
    async story({ client, clock, stage }) {
      await client.chat('teller', 'told', 'hello');
      const endedAt = Date.now();
      const read = async (path: string) =>
        client.call('GET', `/run/api/${path}`, { token: await stage.issuer.token('teller') });
      await clock.until(endedAt + DAY - MINUTE);
      must(await read('chat/told/timeline'), 200);
      await clock.until(endedAt + DAY + MINUTE);
      must(await read('chat/told/timeline'), 404);
      assert.match(JSON.stringify(must(await read('chat/told/messages'), 200).body), /Heard: hello/);
      return 'its timeline a minute before a day, none a minute after; the messages are there';
    },
  },
  {
    name: 'a model may be silent for twenty minutes, and a tool work for its hour',
    documented: 'docs/agents.md (timeouts.firstByteSeconds, toolTimeoutSeconds, turnTimeoutSeconds)',
    lateness: 'none',
    async story({ client, clock }) {
      const turn = await client.say('waiting', 'slow', `${LATER}please`, {
        agent: 'slow',
        tokenSeconds: DAY / SECOND,
      });
      const patientUntil = after(2 * (2 * MODEL_PAUSE_MS + TOOL_PAUSE_MS));
      // The pod renews its lease between two leaps.
      while (turn.endedAt() === undefined && Date.now() < patientUntil) await clock.until(after(4 * MINUTE));
      assert.match(textOf(turn), /Got:.*later, please/);
      return `two replies after ${MODEL_PAUSE_MS / MINUTE} minutes and a call of ${TOOL_PAUSE_MS / MINUTE}, on one stream`;
    },
  },
];
