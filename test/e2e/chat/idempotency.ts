import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ScriptedReply, Turn } from '../../../stand-ins/scripted-model/script.ts';
import { person } from '../../harness/chat/client.ts';
import type { ChatSite } from '../../harness/chat/transport-site.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import type { Mourner } from './shared-death.ts';

export const RECITAL = 'one two three '.repeat(15);

/** "ask" asks the person; "count" gives a long reply; "refuse" makes the model fail; other texts are repeated. */
export function repeatingLine({ userText, results }: Turn): ScriptedReply {
  if (results.length > 0) return { text: `Heard ${results.map(({ text }) => text).join(' and ')}.` };
  if (userText.startsWith('refuse')) throw new Error('The script refuses.');
  if (userText.startsWith('ask'))
    return {
      text: 'One moment. ',
      calls: [{ name: 'elicit', arguments: { kind: 'text', message: 'Which colour?' } }],
    };
  if (userText.startsWith('count')) return { text: `${userText} ${RECITAL}` };
  return { text: `You said ${userText}.` };
}

let chats: ChatSite;

interface Sending {
  readonly authorization: string;
  readonly key: string;
  readonly text: string;
  /** Base URL of a pod; the balancer when absent. */
  readonly url?: string;
  readonly path?: string;
  readonly chatId?: string;
  readonly body?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

const COMPLETIONS = '/run/v1/chat/completions';
const OPENAI = { path: COMPLETIONS, body: { model: 'helper', stream: true } };

function send({ authorization, key, text, chatId, signal, ...more }: Sending): Promise<Response> {
  const { url = chats.balancer.url, path = '/run/api/chat', body, headers } = more;
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      'idempotency-key': key,
      'x-supports-elicitation': 'true',
      ...headers,
    },
    body: JSON.stringify({
      ...(chatId !== undefined && { conversationId: chatId }),
      messages: [{ role: 'user', content: text }],
      ...body,
    }),
    ...(signal !== undefined && { signal }),
  });
}

/** A chunk of either format. */
interface Chunk {
  readonly type?: string;
  readonly id?: string;
  readonly messageId?: string;
  readonly delta?: unknown;
  readonly finishReason?: string;
  readonly messageMetadata?: { readonly parley?: { readonly state?: string } };
  readonly data?: { readonly status?: string; readonly elicitationId?: string; readonly code?: string };
  readonly choices?: readonly {
    readonly delta: { readonly content?: string };
    readonly finish_reason: string | null;
  }[];
}

function textOf({ delta, choices }: Chunk): string {
  return choices?.[0]?.delta.content ?? (typeof delta === 'string' ? delta : '');
}

/** Reads a streamed turn in either format to its end. */
async function readTurn(response: Response) {
  expect(response.status, response.ok ? '' : await response.clone().text()).toBe(200);
  const chunks = (await response.text())
    .split('\n')
    .flatMap((each) => (each.startsWith('data: {') ? [JSON.parse(each.slice(6)) as Chunk] : []));
  const last = chunks.at(-1);
  return {
    replayed: response.headers.get('idempotent-replayed'),
    conversation: response.headers.get('x-conversation-id'),
    messageId: chunks[0]?.messageId ?? chunks[0]?.id,
    // Envelopes contain the time and the nonce of their stream, so they are replaced by a mark.
    text: chunks
      .map(textOf)
      .map((text) => (text.startsWith('{"type":') ? '?' : text))
      .join(''),
    state: last?.messageMetadata?.parley?.state ?? last?.finishReason ?? last?.choices?.[0]?.finish_reason,
    questions: chunks.flatMap(({ type, data }) =>
      type === 'data-elicitation-request' ? [`${data?.elicitationId} ${data?.status}`] : [],
    ),
    failure: chunks.find(({ type }) => type === 'data-turn-failed')?.data?.code,
  };
}

/** Finds a person's open questions. */
async function findOpen(authorization: string): Promise<readonly { readonly elicitationId: string }[]> {
  const headers = { authorization };
  const page = await fetch(`${urlOf(0)}/v1/elicitations?status=pending`, { headers });
  return ((await page.json()) as { elicitations: { elicitationId: string }[] }).elicitations;
}

/** A new person with a message under a new key; `text` occurs in no other turn. */
async function someone(what: string) {
  const { authorization, userId } = await person();
  return { authorization, userId, key: randomUUID(), text: `${what} ${randomUUID()}` };
}

const countRounds = (text: string) =>
  chats.model.requests.filter(({ body }) => JSON.stringify(body.messages.at(-1)).includes(text)).length;

const urlOf = (pod: number) => chats.pods[pod]?.url ?? '';

async function answer(authorization: string, conversationId: string, elicitationId: string) {
  const reply = await fetch(`${chats.balancer.url}/run/api/elicitation-responses`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ conversationId, elicitationId, action: 'accept', content: { answer: 'teal' } }),
  });
  expect(reply.status).toBe(200);
}

/** Tests of messages that are sent again with their key. */
export function messagesSentAgain(the: () => ChatSite): void {
  beforeAll(() => {
    chats = the();
  });

  describe('a message that is sent again with its idempotency key', () => {
    it('is one turn for all senders, when it is sent at once over three pods', async () => {
      const { userId: _userId, ...who } = await someone('count');
      const replies = await Promise.all(
        (await Promise.all(Array.from({ length: 6 }, () => send(who)))).map(readTurn),
      );
      expect(replies.filter(({ replayed }) => replayed === null)).toHaveLength(1);
      expect(replies.filter(({ replayed }) => replayed === 'true')).toHaveLength(5);
      const facts = replies.map(({ replayed: _replayed, ...rest }) => JSON.stringify(rest));
      expect(new Set(facts).size).toBe(1);
      expect(replies[0]).toMatchObject({
        text: `${who.text} ${RECITAL}`,
        state: 'stop',
        conversation: expect.stringMatching(/^conv_/),
      });
      const later = await readTurn(await send(who));
      expect(later).toEqual({ ...replies[0], replayed: 'true' });
      expect(countRounds(who.text)).toBe(1);
    });

    it('gets the complete reply on another pod, after its reader was cut off', async () => {
      const who = await someone('count');
      const cut = new AbortController();
      const first = await send({ ...who, url: urlOf(0), chatId: 'c1', signal: cut.signal });
      await first.body?.getReader().read();
      cut.abort();
      const again = await readTurn(await send({ ...who, url: urlOf(1), chatId: 'c1' }));
      expect(again).toMatchObject({ replayed: 'true', conversation: 'c1', state: 'stop' });
      expect(again.text).toBe(`${who.text} ${RECITAL}`);
      expect(countRounds(who.text)).toBe(1);
    });

    it('is the same turn in the OpenAI format, streamed or not', async () => {
      const who = await someone('hello');
      const first = await readTurn(await send({ ...who, ...OPENAI }));
      const again = await readTurn(await send({ ...who, ...OPENAI }));
      expect(first).toMatchObject({ replayed: null, text: `You said ${who.text}.`, state: 'stop' });
      expect(again).toEqual({ ...first, replayed: 'true' });
      const whole = await send({ ...who, path: COMPLETIONS, body: { model: 'helper' } });
      expect([whole.headers.get('idempotent-replayed'), whole.headers.get('x-conversation-id')]).toEqual([
        'true',
        first.conversation,
      ]);
      expect(await whole.json()).toMatchObject({
        id: first.messageId,
        choices: [{ message: { content: `You said ${who.text}.` } }],
      });
      expect(countRounds(who.text)).toBe(1);
    });

    it('gets 409 with a different text, and is a new turn for another person or under another key', async () => {
      const who = await someone('hello');
      const other = await someone('hello');
      const first = await readTurn(await send({ ...who, chatId: 'c1' }));
      for (const change of [{ text: 'else' }, { chatId: 'c2' }, { body: { agent: 'helper' } }]) {
        const refused = await send({ ...who, chatId: 'c1', ...change });
        expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
          409,
          'idempotency_mismatch',
        ]);
      }
      const theirs = { ...who, authorization: other.authorization };
      for (const turn of [theirs, { ...who, key: 'another' }]) {
        const { replayed, messageId } = await readTurn(await send({ ...turn, chatId: 'c1' }));
        expect([replayed, messageId === first.messageId]).toEqual([null, false]);
      }
      for (const key of ['', 'a b', 'k'.repeat(256)]) {
        const refused = await send({ ...who, key });
        expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
          400,
          'invalid_request',
        ]);
      }
    });

    it('reports a waiting turn as waiting, and after the answer returns the complete turn', async () => {
      for (const format of [{}, OPENAI]) {
        const headers = { 'x-parley-delivery': 'detach' };
        const who = { ...(await someone('ask')), chatId: 'c1', headers, ...format };
        const waiting = await readTurn(await send(who));
        const again = await readTurn(await send(who));
        expect(again).toEqual({ ...waiting, replayed: 'true' });
        expect(again.text).toContain('One moment.');
        const open = await findOpen(who.authorization);
        expect(open).toHaveLength(1);
        await answer(who.authorization, 'c1', open[0]?.elicitationId ?? '');
        const whole = await readTurn(await send(who));
        expect(whole.text).toMatch(/One moment\..*Heard .*teal/s);
        expect([whole.replayed, whole.messageId]).toEqual(['true', waiting.messageId]);
        const ended = await readTurn(await send(who));
        expect([ended.text, ended.state]).toEqual([whole.text, whole.state]);
        expect(countRounds(who.text)).toBe(1);
      }
    });

    it('reports a failed or stopped turn as such; another attempt needs another key', async () => {
      const failed = { ...(await someone('refuse')), chatId: 'c1' };
      const first = await readTurn(await send(failed));
      expect(first).toMatchObject({ replayed: null, failure: 'model_unavailable' });
      const rounds = countRounds(failed.text);
      expect(await readTurn(await send(failed))).toEqual({ ...first, replayed: 'true' });
      const whole = await send({ ...failed, body: { stream: false } });
      const { status, headers } = whole;
      expect([status, headers.get('retry-after'), headers.get('x-should-retry')]).toEqual([
        500,
        null,
        'false',
      ]);
      expect(countRounds(failed.text)).toBe(rounds);

      const stopped = { ...(await someone('ask')), chatId: 'c1' };
      const running = send(stopped);
      await waitUntil(async () => (await findOpen(stopped.authorization)).length === 1, {
        what: 'the question',
      });
      const stop = await fetch(`${urlOf(1)}/run/api/chat/c1/stop`, {
        method: 'POST',
        headers: { authorization: stopped.authorization },
      });
      expect(await stop.json()).toEqual({ stopped: true });
      const { text, messageId, state } = await readTurn(await running);
      expect(await readTurn(await send(stopped))).toMatchObject({ text, messageId, state, replayed: 'true' });
      expect(countRounds(stopped.text)).toBe(1);
    });
  });

  /** A pod that is to be killed is missed soon. */
  const MORTAL = { PARLEY_LEASE_MS: '4000' };

  /** Starts a pod that loses Redis once Redis has begun its next turn, so that the pod never gets the reply. */
  async function podThatLosesRedis(text: string, env: Record<string, string> = {}) {
    // The script is loaded first: one that Redis does not know yet would be sent twice.
    await readTurn(await send(await someone('hello')));
    const proxy = await chats.site.proxy();
    const pod = await chats.site.pod({ ...chats.env, ...env, REDIS_URL: proxy.url });
    onTestFinished(async () => void (await pod.stop()));
    return {
      pod,
      proxy,
      async disconnect() {
        await proxy.refuse(true);
        return proxy.cutAfterNextRequest(text);
      },
    };
  }

  describe('a message with an unknown outcome that is sent again', () => {
    it('gets its turn on another pod, after its pod was killed before it replied', async () => {
      const who = { ...(await someone('ask')), chatId: 'c1' };
      const { pod, disconnect } = await podThatLosesRedis(who.text, MORTAL);
      const cut = disconnect();
      const lost = send({ ...who, url: pod.url }).then(
        ({ status }) => status,
        () => 'nothing',
      );
      expect(await cut).toBe(true);
      pod.kill('SIGKILL');
      expect(await lost).toBe('nothing');
      const again = send(who);
      const isAsked = async () => (await findOpen(who.authorization)).length === 1;
      await waitUntil(isAsked, { what: 'the question' });
      await answer(who.authorization, 'c1', (await findOpen(who.authorization))[0]?.elicitationId ?? '');
      const whole = await readTurn(await again);
      expect(whole).toMatchObject({ replayed: 'true', state: 'stop' });
      expect(whole.text).toMatch(/^One moment\. Heard .*teal/);
      expect(countRounds(who.text)).toBe(1);
    });

    it('gets the turn once its pod reaches Redis again, after that pod had lost Redis', async () => {
      const who = { ...(await someone('hello')), chatId: 'c1' };
      // No other pod takes the turn over, however long this one is without Redis.
      const { pod, proxy, disconnect } = await podThatLosesRedis(who.text, { PARLEY_LEASE_MS: '600000' });
      const cut = disconnect();
      const lost = await send({ ...who, url: pod.url });
      expect(await cut).toBe(true);
      expect([lost.status, ((await lost.json()) as { code: string }).code]).toEqual([503, 'unavailable']);
      const again = await send(who);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(countRounds(who.text)).toBe(0);
      await proxy.heal();
      await proxy.refuse(false);
      expect(await readTurn(again)).toMatchObject({ text: `You said ${who.text}.`, state: 'stop' });
      expect(countRounds(who.text)).toBe(1);
    });
  });
}

/** A message whose pod is killed in the middle of the reply. */
export const messageSentAgain: Mourner = {
  name: 'a message that is sent again with its key gets the text once, in either format',
  async test({ held, dies, goesOn }) {
    const who = { ...(await someone('count')), chatId: 'c1', body: { agent: 'helper' } };
    await held();
    const first = await send({ ...who, url: urlOf(0) });
    let seen = '';
    for await (const piece of first.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      seen += piece;
      if (seen.includes('one')) break;
    }
    expect(seen).toContain('one');
    await dies();
    await goesOn();
    const text = `${who.text} ${RECITAL}`;
    // A reader that was shown text of a step that starts again is cut off, and returns with the same key.
    const whole = async () => (await readTurn(await send(who))).text === text;
    await waitUntil(() => whole().catch(() => false), { what: 'all of it', timeoutMs: 90_000 });
    const body = { model: 'helper', stream: true };
    expect(await readTurn(await send({ ...who, ...OPENAI, body }))).toMatchObject({
      text,
      state: 'stop',
      replayed: 'true',
    });
    expect(countRounds(who.text)).toBe(2);
  },
};
