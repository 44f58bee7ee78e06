import { type UIMessage, validateUIMessages } from 'ai';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ModelFault } from '../../../stand-ins/scripted-model/faults.ts';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import type { ModelRequest } from '../../../stand-ins/scripted-model/scripted-model.ts';
import {
  type Asked,
  createChatClient,
  person,
  questionIn,
  SECRET,
  textOf,
  untilAsked,
  type Watched,
} from '../../harness/chat/client.ts';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import { userToken } from '../../harness/tokens.ts';
import type { Mourner } from './shared-death.ts';

const SERVICE_KEY = 'a-service-key-of-some-length';
const ADMIN_KEY = 'a-service-key-of-an-administrator';
const ASK_KEY = 'a-service-key-that-may-not-chat';
const ANSWER = { type: 'data-elicitation-response', data: { elicitationId: 'el_1', action: 'decline' } };

const HELPERS_TOKEN = 'Bearer project-token';
export const ECHO_HEADERS = { authorization: HELPERS_TOKEN };

/** What the pods need for these conversations in their environment. */
export const CONVERSATIONS_ENV = {
  ECHO_AUTHORIZATION: HELPERS_TOKEN,
  PARLEY_API_KEYS: [
    `default:${SERVICE_KEY}`,
    `default/chief/admin:${ADMIN_KEY}`,
    `default/asker/ask+read:${ASK_KEY}`,
  ].join(','),
};

/** What they need in the agents file. */
export const conversationsFile = (echoUrl: string) => ({
  helper: 'tools: [{ server: echo }]',
  agents: `  hasty: { title: Hasty, model: scripted, instructions: Be quick., limits: { turnTimeoutSeconds: 1 } }
  lead: { title: Lead, model: scripted, instructions: Lead., delegates: [{ agent: inner, description: Helps. }] }
  inner: { title: Inner, model: scripted, instructions: Help. }
  reports: { title: Reports, model: scripted, instructions: Report., access: { callers: [service], keys: [chief] } }
  vip: { title: Vip, model: scripted, instructions: Serve., access: { tenants: [default], users: [a-very-important-person] } }
`,
  servers: `  echo:
    title: Echo
    transport: http
    url: "${echoUrl}"
    credentialScope: project
    headersFromEnv: { Authorization: ECHO_AUTHORIZATION }
`,
});

const COUNTED = 'one two three '.repeat(50);

/** "echo x" calls the tool; "count" alone gives a long reply. */
export function echoingLine({ userText, results }: Turn): ScriptedReply | undefined {
  if (userText === 'count') return { text: COUNTED };
  if (userText.startsWith('echo') && results.length === 0)
    return { calls: [{ name: 'echo__echo', arguments: { text: userText.slice(5) } }] };
  return undefined;
}

/** "reject" and "hang" make the model refuse and hang. */
export function faultFor({ body }: ModelRequest): ModelFault | undefined {
  const text = JSON.stringify(body.messages.at(-1));
  if (/"reject\\*"/.test(text)) return { kind: 'refuse', status: 400 };
  return text.includes('"hang"') ? { kind: 'hang' } : undefined;
}

let chats: ChatSite;
const urlOf = (pod: number) => chats.pods[pod]?.url ?? '';
const { say, resume, post, read } = createChatClient(urlOf);

/** The running turn of the conversation `c1`, read on another pod. */
async function resumedOn(pod: number, authorization: string): Promise<Watched> {
  const resumed = await resume(pod, authorization, 'c1');
  if (resumed === undefined) throw new Error('No turn runs.');
  return resumed;
}

/** Tests of conversations over three pods. */
export function conversations(the: () => ChatSite): void {
  beforeAll(() => {
    chats = the();
  });

  describe('the history of a conversation', () => {
    const get = async (pod: number, path: string, authorization: string) => {
      const response = await fetch(`${urlOf(pod)}${path}`, { headers: { authorization } });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };

    it('is read on any pod as a stock client shows it, with the message that is being answered', async () => {
      const { authorization } = await person();
      await (await say({ authorization, text: 'echo bananas', chatId: 'talk', pod: 0 })).done;
      const chat = await say({ authorization, text: 'ask me', chatId: 'talk', pod: 0 });
      const elicitationId = await untilAsked(chat);
      const { status, body } = await get(1, '/run/api/chat/talk/messages', authorization);
      expect(status).toBe(200);
      expect(body).toMatchObject({ conversationId: 'talk', isRunning: true });
      expect(body.messages).toMatchObject([
        { role: 'user', parts: [{ type: 'text', text: 'echo bananas' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'step-start' },
            { type: 'dynamic-tool', toolName: 'echo__echo', state: 'output-available' },
            { type: 'step-start' },
            { type: 'text', text: expect.stringContaining('bananas') },
          ],
        },
        { role: 'user', parts: [{ type: 'text', text: 'ask me' }] },
      ]);
      const response = {
        conversationId: 'talk',
        elicitationId,
        action: 'accept',
        content: { answer: 'teal' },
      };
      await post(2, '/run/api/elicitation-responses', authorization, response);
      const streamed = await chat.done;
      const { body: after } = await get(2, '/run/api/chat/talk/messages', authorization);
      const messages = after.messages as UIMessage[];
      expect(after.isRunning).toBe(false);
      expect(await validateUIMessages({ messages })).toEqual(messages);
      expect(new Set(messages.map(({ id }) => id)).size).toBe(4);
      // The reply has the id that its stream had, so that a client that has both shows it once.
      expect(messages[3]?.id).toBe(streamed?.id);
      expect(textOf(messages[3])).toBe(textOf(streamed));
    });

    it('is found in the list of conversations by its person only', async () => {
      const [ada, bob] = [await person(), await person()];
      for (const chatId of ['older', 'newer']) {
        await (await say({ ...ada, text: `hello\n ${chatId}`, chatId })).done;
      }
      const { body } = await get(1, '/run/api/chats', ada.authorization);
      expect(body.conversations).toMatchObject([
        { conversationId: 'newer', title: 'hello newer', agent: 'helper', isRunning: false },
        { conversationId: 'older', title: 'hello older', agent: 'helper', isRunning: false },
      ]);
      const first = await get(1, '/run/api/chats?limit=1', ada.authorization);
      const next = await get(1, `/run/api/chats?limit=1&cursor=${first.body.nextCursor}`, ada.authorization);
      expect(next.body.conversations).toMatchObject([{ conversationId: 'older' }]);
      expect((await get(1, '/run/api/chats', bob.authorization)).body).toEqual({ conversations: [] });
      for (const id of ['newer', 'none', '..%2f']) {
        const refused = await get(1, `/run/api/chat/${id}/messages`, bob.authorization);
        expect(refused).toMatchObject({ status: 404, body: { code: 'not_found' } });
      }
      expect((await get(1, '/run/api/chats?cursor=x', ada.authorization)).status).toBe(400);
    });
  });

  describe('the OpenAI routes', () => {
    const clientOf = (authorization: string) =>
      new OpenAI({ baseURL: `${urlOf(0)}/run/v1`, apiKey: authorization.slice(7), maxRetries: 0 });

    it('list the agents as models', async () => {
      const { authorization } = await person();
      const models = await clientOf(authorization).models.list();
      expect(models.data).toMatchObject([
        { id: 'helper', object: 'model', owned_by: 'parley', name: 'Helper' },
        { id: 'hasty', object: 'model', owned_by: 'parley', name: 'Hasty' },
        { id: 'lead', object: 'model', owned_by: 'parley', name: 'Lead' },
        { id: 'desk', object: 'model', owned_by: 'parley', name: 'Desk' },
      ]);
    });

    it('have one model for each agent that the caller may use, and no other', async () => {
      const { authorization } = await person();
      const client = clientOf(authorization);
      expect(await client.models.retrieve('lead')).toMatchObject({ id: 'lead', name: 'Lead' });
      const messages = [{ role: 'user' as const, content: 'hello' }];
      for (const call of [
        client.models.retrieve('vip'),
        client.models.retrieve('../x'),
        client.chat.completions.create({ model: 'nobody', messages }),
      ]) {
        const error = await call.catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(OpenAI.NotFoundError);
        expect(error).toMatchObject({ type: 'invalid_request_error', code: 'not_found', param: null });
      }
    });

    it.each([
      [
        'a message without text',
        'invalid_request_error',
        'messages.0',
        { messages: [{ role: 'user', content: '' }] },
      ],
      ['no message', 'invalid_request_error', 'messages', { messages: [] as object[] }],
    ])('refuse %s with an error as clients of OpenAI read it', async (_, type, param, wrong) => {
      const { authorization } = await person();
      const body = { model: 'helper', ...wrong };
      const refused = clientOf(authorization).post('/chat/completions', { body });
      await expect(refused).rejects.toMatchObject({
        status: 400,
        type,
        param,
        code: 'invalid_request',
        error: { message: expect.stringMatching(/\w/u) },
      });
    });

    it('refuse a wrong token with an error as clients of OpenAI read it', async () => {
      const refused = clientOf('Bearer no-token').models.list();
      await expect(refused).rejects.toMatchObject({
        status: 401,
        type: 'authentication_error',
        code: 'unauthenticated',
        param: null,
      });
    });
  });

  describe('a chat over three pods', () => {
    it('answers a stock client, and remembers the conversation', async () => {
      const { authorization } = await person();
      const first = await say({ authorization, text: 'hello', chatId: 'c1', pod: 0 });
      expect(textOf(await first.done)).toBe('You said hello.');
      const second = await say({ authorization, text: 'again', chatId: 'c1', pod: 1 });
      expect(textOf(await second.done)).toBe('You said again.');
      const shown = chats.model.requests.at(-1)?.body.messages.map(({ role }) => role);
      expect(shown).toEqual(['system', 'user', 'assistant', 'user']);
    });

    it('calls the tools of a server with the project’s credential', async () => {
      const { authorization } = await person();
      const chat = await say({ authorization, text: 'echo bananas', chatId: 'c1' });
      expect(textOf(await chat.done)).toContain('bananas');
    });

    it('asks its person, takes the answer on another pod, and continues in the same stream', async () => {
      const { authorization } = await person();
      const chat = await say({ authorization, text: 'ask me', chatId: 'c1', pod: 0 });
      const elicitationId = await untilAsked(chat);
      const response = { conversationId: 'c1', elicitationId, action: 'accept', content: { answer: 'teal' } };
      expect((await post(1, '/run/api/elicitation-responses', authorization, response)).status).toBe(200);
      const message = await chat.done;
      expect(textOf(message)).toContain('teal');
      expect(questionIn(message)?.status).toBe('accepted');
      const { content: _content, ...question } = questionIn(message) as Asked & { content?: unknown };
      expect(JSON.stringify(question)).not.toContain('teal');
    });

    it("a service key reads questions in a chat's stream, and only an admin key its text and its tool calls", async () => {
      const { authorization, userId } = await person();
      const said = await say({ authorization, text: 'echo bananas', chatId: 'c1' });
      await said.done;
      const chat = await say({ authorization, text: 'ask me', chatId: 'c1', pod: 0 });
      const elicitationId = await untilAsked(chat);
      const { streamRequestId } = questionIn(chat.seen.message) ?? {};
      const answer = { conversationId: 'c1', elicitationId, action: 'accept', content: { answer: 'teal' } };
      await post(2, '/run/api/elicitation-responses', authorization, answer);
      await chat.done;
      const namesFor = async (key: string) => {
        const reading = new AbortController();
        const response = await fetch(`${urlOf(1)}/v1/streams/${streamRequestId}/events?userId=${userId}`, {
          headers: { authorization: `Bearer ${key}` },
          signal: reading.signal,
        });
        let text = '';
        const decoder = new TextDecoder();
        const body = response.body?.getReader();
        while (
          !text.includes('event: elicitation-resolved') ||
          (key === ADMIN_KEY && !text.includes('event: turn-finished'))
        ) {
          text += decoder.decode((await body?.read())?.value, { stream: true });
        }
        reading.abort();
        return new Set([...text.matchAll(/^event: (.+)$/gm)].map(([, name]) => name));
      };
      const questions = ['elicitation-request', 'elicitation-resolved'];
      expect([...(await namesFor(SERVICE_KEY))]).toEqual(questions);
      expect([...(await namesFor(ASK_KEY))]).toEqual(questions);
      expect([...(await namesFor(ADMIN_KEY))]).toEqual(
        expect.arrayContaining(['text-delta', 'tool-called', ...questions]),
      );
    });

    it('limits agents to their callers, and shows an agent to nobody else', async () => {
      const anyone = (await person()).authorization;
      const important = `Bearer ${await userToken({ secret: SECRET, userId: 'a-very-important-person' })}`;
      const elsewhere = `Bearer ${await userToken({ secret: SECRET, userId: 'a-very-important-person', tenant: 'other' })}`;
      const open = ['helper', 'hasty', 'lead', 'desk'];
      const begun = async (authorization: string, agent: string) => {
        const body = { id: agent, agent, stream: false, messages: [{ role: 'user', content: 'hello' }] };
        const reply = await post(0, '/run/api/chat', authorization, body);
        const { detail = '' } = (await reply.json()) as { detail?: string };
        return reply.status === 200 ? true : `${reply.status} ${detail.replace(agent, '?')}`;
      };
      const unknown = await begun(anyone, 'nobody');
      for (const [authorization, agents] of [
        [anyone, open],
        [important, ['helper', 'hasty', 'lead', 'vip', 'desk']],
        [elsewhere, open],
        [`Bearer ${SERVICE_KEY}`, open],
        [`Bearer ${ADMIN_KEY}`, ['helper', 'hasty', 'lead', 'reports', 'desk']],
      ] as const) {
        const listed = await fetch(`${urlOf(0)}/run/v1/models`, { headers: { authorization } });
        const { data } = (await listed.json()) as { data: { id: string }[] };
        expect(data.map(({ id }) => id)).toEqual(agents);
        for (const agent of ['lead', 'inner', 'reports', 'vip']) {
          expect(await begun(authorization, agent)).toBe(agents.some((one) => one === agent) || unknown);
        }
      }
    });

    it('begins no turn for a service key without the scope for chats', async () => {
      const body = { id: 'c1', messages: [{ role: 'user', content: 'hello' }] };
      for (const path of ['/run/api/chat', '/run/v1/chat/completions']) {
        const reply = await post(0, path, `Bearer ${ASK_KEY}`, { ...body, model: 'helper' });
        expect(reply.status).toBe(403);
        expect(await reply.text()).toContain('with the scope chat');
      }
    });

    it('accepts the answer as a message part, and reports a decline to the model', async () => {
      const { authorization } = await person();
      const chat = await say({ authorization, text: 'ask me', chatId: 'c1', pod: 0 });
      const elicitationId = await untilAsked(chat);
      const data = { elicitationId, action: 'decline' };
      const reply = await post(2, '/run/api/chat', authorization, {
        id: 'c1',
        messages: [{ role: 'user', parts: [{ type: 'data-elicitation-response', data }] }],
      });
      expect([reply.status, ((await reply.json()) as Asked).status]).toEqual([200, 'declined']);
      expect(textOf(await chat.done)).toMatch(/explicitly declined/);
    });

    it('shows no question to a client that cannot show one', async () => {
      const { authorization } = await person();
      const chat = await say({ authorization, text: 'ask me', chatId: 'c1', supports: 'url' });
      const message = await chat.done;
      expect(questionIn(message)).toBeUndefined();
      expect(textOf(message)).toMatch(/cannot show questions/);
    });

    it('continues without its reader, and can be read on another pod from its start', async () => {
      const { authorization } = await person();
      const leaving = new AbortController();
      const chat = await say({ authorization, text: 'ask me', chatId: 'c1', pod: 0, signal: leaving.signal });
      const elicitationId = await untilAsked(chat);
      leaving.abort();
      const resumed = await resumedOn(1, authorization);
      expect(await untilAsked(resumed)).toBe(elicitationId);
      const answer = { conversationId: 'c1', elicitationId, action: 'accept', content: { answer: 'pink' } };
      await post(2, '/run/api/elicitation-responses', authorization, answer);
      expect(textOf(await resumed.done)).toBe('One moment. Heard {"status":"accepted","answer":"pink"}.');
      const timeline = await read(2, '/run/api/chat/c1/timeline', authorization);
      expect(timeline.status).toBe(200);
      const text = await timeline.text();
      expect(JSON.parse(text)).toMatchObject({
        conversationId: 'c1',
        runs: [
          {
            status: 'finished',
            durationMs: expect.any(Number),
            owners: [{ state: 'owned', pod: expect.any(String), term: 1 }],
            steps: [{ finishReason: 'tool-calls' }, { finishReason: 'stop' }],
            calls: [{ toolName: 'elicit', state: 'returned', durationMs: expect.any(Number) }],
            waits: [{ elicitationId, outcome: 'accepted', durationMs: expect.any(Number) }],
          },
        ],
      });
      for (const said of ['pink', 'colour', 'moment', 'ask me']) expect(text).not.toContain(said);
      expect(await resume(1, authorization, 'c1')).toBeUndefined();
    });

    it('refuses a second turn while one runs, and can be stopped from any pod', async () => {
      const { authorization, userId } = await person();
      const chat = await say({ authorization, text: 'ask me', chatId: 'c1', pod: 0 });
      const elicitationId = await untilAsked(chat);
      const body = { id: 'c1', messages: [{ role: 'user', content: 'hello' }] };
      const second = await post(1, '/run/api/chat', authorization, body);
      expect([second.status, ((await second.json()) as { code: string }).code]).toEqual([
        409,
        'turn_running',
      ]);
      const stopped = await post(2, '/run/api/chat/c1/stop', authorization);
      expect(await stopped.json()).toEqual({ stopped: true });
      const message = await chat.done;
      expect(questionIn(message)?.status).toBe('withdrawn');
      const reply = await fetch(`${urlOf(0)}/v1/elicitations/${elicitationId}`, {
        headers: { authorization },
      });
      expect(await reply.json()).toMatchObject({ status: 'withdrawn', reason: 'run_stopped', userId });
      expect(await (await post(0, '/run/api/chat/c1/stop', authorization)).json()).toEqual({
        stopped: false,
      });
      expect(textOf(await (await say({ authorization, text: 'hello', chatId: 'c1', pod: 1 })).done)).toBe(
        'You said hello.',
      );
    });

    it('is hidden from another person with the same conversation id', async () => {
      const [one, other] = [await person(), await person()];
      const chat = await say({ authorization: one.authorization, text: 'ask me', chatId: 'shared' });
      const elicitationId = await untilAsked(chat);
      const headers = { authorization: other.authorization };
      expect((await fetch(`${urlOf(1)}/run/api/chat/shared/stream`, { headers })).status).toBe(204);
      expect((await read(1, '/run/api/chat/shared/timeline', other.authorization)).status).toBe(404);
      expect(await (await post(1, '/run/api/chat/shared/stop', other.authorization)).json()).toEqual({
        stopped: false,
      });
      const answer = { conversationId: 'shared', elicitationId, action: 'decline' };
      expect((await post(1, '/run/api/elicitation-responses', other.authorization, answer)).status).toBe(404);
      expect(textOf(await (await say({ ...other, text: 'hello', chatId: 'shared', pod: 2 })).done)).toBe(
        'You said hello.',
      );
      await post(1, '/run/api/chat/shared/stop', one.authorization);
      await chat.done;
    });

    it('works with the OpenAI client, streamed or not', async () => {
      const { authorization } = await person();
      const client = new OpenAI({
        baseURL: `${urlOf(2)}/run/v1`,
        apiKey: authorization.slice('Bearer '.length),
        maxRetries: 0,
      });
      const messages = [{ role: 'user', content: 'count' }] as const;
      let text = '';
      for await (const chunk of await client.chat.completions.create({
        model: 'helper',
        messages: [...messages],
        stream: true,
      })) {
        text += chunk.choices[0]?.delta.content ?? '';
      }
      expect(text).toBe(COUNTED);
      const whole = await client.chat.completions.create({
        model: 'helper',
        messages: [{ role: 'user', content: 'hi' }],
      });
      expect(whole.choices[0]).toMatchObject({ message: { content: 'You said hi.' }, finish_reason: 'stop' });
      // Requests that name no conversation stand alone; one that names hers is in the list.
      const named = { conversationId: 'hers' } as object;
      await client.chat.completions.create({ model: 'helper', messages: [...messages], ...named });
      const listed = await fetch(`${urlOf(0)}/run/api/chats`, { headers: { authorization } });
      expect(await listed.json()).toMatchObject({ conversations: [{ conversationId: 'hers' }] });
    });

    it('states in a non-streamed error whether a retry makes sense', async () => {
      const { authorization } = await person();
      const ask = async (agent: string, content: string) => {
        const body = { agent, stream: false, messages: [{ role: 'user', content }] };
        const { status, headers } = await post(0, '/run/api/chat', authorization, body);
        return [status, headers.get('retry-after'), headers.get('x-should-retry')];
      };
      expect(await ask('helper', 'reject')).toEqual([503, '1', null]);
      expect(await ask('hasty', 'hang')).toEqual([500, null, 'false']);
      const before = chats.model.requests.length;
      const client = new OpenAI({
        baseURL: `${urlOf(1)}/run/v1`,
        apiKey: authorization.slice('Bearer '.length),
        maxRetries: 2,
      });
      const messages = [{ role: 'user', content: 'hang' }] as const;
      const call = client.chat.completions.create({ model: 'hasty', messages: [...messages] });
      await expect(call).rejects.toMatchObject({ status: 500 });
      // A starved pod may use up the second of the turn before it asks the model.
      expect(chats.model.requests.length - before).toBeLessThanOrEqual(1);
    });

    it('accepts a service key without a user, and then asks no question', async () => {
      const reply = await post(1, '/run/api/chat', 'Bearer a-service-key-of-some-length', {
        messages: [{ role: 'user', content: 'ask me' }],
        stream: false,
      });
      expect(reply.status).toBe(200);
      expect(JSON.stringify(await reply.json())).toContain('cannot show questions');
    });

    it('refuses invalid turns, with a reason', async () => {
      const { authorization } = await person();
      for (const body of [
        {},
        { messages: [] },
        { messages: [{ role: 'assistant', content: 'hello' }] },
        { messages: [{ role: 'user', parts: [{ type: 'step-start' }] }] },
        { messages: [{ role: 'user', content: 'hello' }], agent: 'nobody' },
        { messages: [{ role: 'user', content: 'hello' }], id: 'sr_mine' },
        { messages: [{ role: 'user', parts: [{ type: 'data-elicitation-response', data: {} }] }], id: 'c' },
        { messages: [{ role: 'user', parts: [ANSWER, ANSWER] }], id: 'c' },
        { messages: [{ role: 'user', parts: [ANSWER, { type: 'text', text: 'and more' }] }], id: 'c' },
      ]) {
        const reply = await post(0, '/run/api/chat', authorization, body);
        expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([
          400,
          'invalid_request',
        ]);
      }
    });
  });
}

/** A turn that its pod holds while it asks. */
export const heldTurn: Mourner = {
  name: 'a held turn continues, for the same reader, with the same question',
  async test({ dies }) {
    const { authorization } = await person();
    const chat = await say({ authorization, text: 'ask me', chatId: 'c1', pod: 0 });
    const elicitationId = await untilAsked(chat);
    const resumed = await resumedOn(1, authorization);
    expect(await untilAsked(resumed)).toBe(elicitationId);
    await dies();
    const answer = { conversationId: 'c1', elicitationId, action: 'accept', content: { answer: 'teal' } };
    expect((await post(2, '/run/api/elicitation-responses', authorization, answer)).status).toBe(200);
    const message = await resumed.done;
    expect(textOf(message)).toContain('teal');
    expect(questionIn(message)).toMatchObject({ elicitationId, status: 'accepted' });
  },
};
