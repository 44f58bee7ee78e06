import type { ServerResponse } from 'node:http';
import { isParleyClientError } from '@parley/sdk';
import {
  type ChatStreamReason,
  type ChatTransportOptions,
  createChatTransport,
  isChatStreamError,
} from '@parley/sdk/chat';
import type { UIMessage, UIMessageChunk } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../harness/wait-until.ts';
import { PlainChat } from './sdk-chat-chat.ts';
import {
  type ChatServer,
  type Line,
  loseReply,
  nothingRuns,
  refuse,
  reply,
  startChatServer,
  stream,
  textOfLines,
} from './sdk-chat-server.ts';

let server: ChatServer;
beforeAll(async () => {
  server = await startChatServer();
});
afterAll(() => server.stop());

const QUICK = { firstDelayMs: 0, delayMsMax: 0 };

function transportWith(more: Partial<ChatTransportOptions> = {}) {
  return createChatTransport({ baseUrl: server.url, token: 'a-token', retry: QUICK, ...more });
}

const start: Line = { id: '9-1', data: { type: 'start', messageId: 'm1' } };
const startStep: Line = { id: '9-2', data: { type: 'start-step' } };
/** One event of the feed: only its last frame carries its id. */
const hello: readonly Line[] = [
  { id: '9-2', data: { type: 'text-start', id: 't' } },
  { id: '9-3', data: { type: 'text-delta', id: 't', delta: 'Hello' } },
];
const world: Line = { id: '9-4', data: { type: 'text-delta', id: 't', delta: ' world' } };
const end: readonly Line[] = [
  { id: '9-4', data: { type: 'text-end', id: 't' } },
  { id: '9-4', data: { type: 'finish-step' } },
  { id: '9-4', data: { type: 'finish', finishReason: 'stop' } },
  { id: '9-5', data: '[DONE]' },
];
const whole = [start, startStep, ...hello, world, ...end];

const said: UIMessage = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hello' }] };
const sent = {
  trigger: 'submit-message' as const,
  chatId: 'c1',
  messageId: undefined,
  messages: [said],
  abortSignal: undefined,
};

async function read(chunks: ReadableStream<UIMessageChunk> | null): Promise<UIMessageChunk[]> {
  const all: UIMessageChunk[] = [];
  for await (const chunk of chunks ?? []) all.push(chunk);
  return all;
}

/** Reads one message's stream to its end. */
async function told(more: Partial<ChatTransportOptions> = {}): Promise<UIMessageChunk[]> {
  return read(await transportWith(more).sendMessages(sent));
}

function callsAfter(before: number) {
  return server.calls.slice(before).map(({ method, path, headers }) => {
    return [method, path, headers['last-event-id']];
  });
}

const chunksOf = (lines: readonly Line[]) =>
  lines.map(({ data }) => data).filter((data) => data !== '[DONE]');
const POST = ['POST', '/run/api/chat', undefined];
const get = (id?: string) => ['GET', '/run/api/chat/c1/stream', id];

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'no failure',
    (error: unknown) => (isChatStreamError(error) ? error.reason : error),
  );
}

describe('a stream that is cut', () => {
  const upTo = (text: string) => {
    const all = textOfLines(whole);
    return all.slice(0, all.indexOf(text));
  };
  const firstOf = (count: number) => textOfLines(whole.slice(0, count));

  it.each([
    ['within a chunk', upTo('world'), '9-3', whole.slice(4)],
    ['between two chunks', firstOf(5), '9-4', whole.slice(5)],
    ['within an event of several chunks', firstOf(3), '9-2', whole.slice(2)],
    ['before its first chunk', '', undefined, whole],
    ['before its finish', firstOf(7), '9-4', whole.slice(5)],
  ])('%s goes on after the last whole event', async (_where, before, lastEventId, rest) => {
    const calls = server.calls.length;
    server.will(stream(before, 'cut'), stream(textOfLines(rest)));
    expect(await told()).toEqual(chunksOf(whole));
    expect(callsAfter(calls)).toEqual([POST, get(lastEventId)]);
  });

  it('between its finish and its end is over all the same', async () => {
    const calls = server.calls.length;
    server.will(stream(firstOf(whole.length - 1), 'cut'));
    expect(await told()).toEqual(chunksOf(whole));
    expect(callsAfter(calls)).toEqual([POST]);
  });

  it('does not take a clean end for the end of the turn, nor events that it has', async () => {
    server.will(
      stream(firstOf(5), 'end'),
      stream(textOfLines([start, ...hello.slice(1), ...whole.slice(5)])),
    );
    expect(await told()).toEqual(chunksOf(whole));
  });

  it('comes back through 503, 429, 502 and a lost connection, to its end', async () => {
    server.will(
      stream(firstOf(5), 'cut'),
      refuse(503, 'unavailable', '0'),
      refuse(429, 'rate_limited'),
      (res) => res.writeHead(502).end('bad gateway'),
      loseReply,
      stream(textOfLines(whole.slice(5))),
    );
    expect(await told()).toEqual(chunksOf(whole));
  });

  it('comes back when the server says, and gives up when it says too late', async () => {
    const retry = { firstDelayMs: 600_000, giveUpMs: 60_000 };
    server.will(stream(`retry: 1\n\n${firstOf(5)}`, 'cut'), stream(textOfLines(whole.slice(5))));
    expect(await told({ retry })).toEqual(chunksOf(whole));
    server.will(stream(firstOf(5), 'cut'), refuse(503, 'unavailable', '3600'));
    expect(await failureOf(told({ retry: { ...QUICK, giveUpMs: 30_000 } }))).toBe('unreachable');
  });

  it('is given up when it falls silent', async () => {
    server.will(stream(firstOf(5), 'open'), stream(textOfLines(whole.slice(5))));
    expect(await told({ heartbeatTimeoutMs: 50 })).toEqual(chunksOf(whole));
  });

  it.each<[string, Line['data'] | undefined, ChatStreamReason]>([
    ['no turn runs any more', undefined, 'ended-unseen'],
    ['another turn runs', { type: 'start', messageId: 'm2' }, 'ended-unseen'],
  ])('says so when %s', async (_when, other, reason) => {
    const reset: Line = { data: { type: 'data-stream-reset', data: { v: 1 }, transient: true } };
    const next = other === undefined ? nothingRuns : stream(textOfLines([reset, { id: '8-1', data: other }]));
    server.will(stream(firstOf(5), 'cut'), next);
    expect(await failureOf(told())).toBe(reason);
  });

  it('says so when a reader has lost its right to it', async () => {
    server.will(stream(firstOf(5), 'cut'), refuse(401, 'unauthenticated'));
    expect(await failureOf(told())).toMatchObject({ code: 'unauthenticated', status: 401 });
  });
});

describe('a message', () => {
  it('is sent again when nothing was begun', async () => {
    const calls = server.calls.length;
    server.will(refuse(503, 'unavailable', '0'), refuse(429, 'rate_limited'), stream(textOfLines(whole)));
    expect(await told()).toEqual(chunksOf(whole));
    expect(callsAfter(calls)).toEqual([POST, POST, POST]);
  });

  it('is sent again when it never left', async () => {
    const failures = [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const cause = failures.shift();
      if (cause !== undefined) throw new TypeError('fetch failed', { cause });
      return globalThis.fetch(input, init);
    };
    const calls = server.calls.length;
    server.will(stream(textOfLines(whole)));
    expect(await told({ fetch })).toEqual(chunksOf(whole));
    expect(callsAfter(calls)).toEqual([POST]);
  });

  it('fails when the server says that it is too early for too long', async () => {
    server.will(refuse(503, 'unavailable', '3600'));
    const call = told({ retry: { ...QUICK, giveUpMs: 30_000 } });
    expect(await failureOf(call)).toMatchObject({ code: 'unavailable', status: 503 });
  });

  it.each([
    ['its reply was lost', loseReply],
    ['a proxy lost its reply', refuse(502, 'unavailable')],
    ['a proxy lost its pod', (res: ServerResponse) => res.writeHead(503).end('no healthy upstream')],
  ])('is never sent twice when %s: its turn is resumed', async (_why, lost) => {
    const calls = server.calls.length;
    server.will(lost, stream(textOfLines(whole)));
    expect(await told()).toEqual(chunksOf(whole));
    expect(callsAfter(calls)).toEqual([POST, get()]);
  });

  it('has an unknown outcome when its reply was lost and the turn before is told again', async () => {
    const earlier: UIMessage = { id: 'm1', role: 'assistant', parts: [] };
    server.will(loseReply, stream(textOfLines(whole)));
    const telling = transportWith().sendMessages({ ...sent, messages: [earlier, ...sent.messages] });
    expect(await failureOf(telling.then(read))).toBe('outcome-unknown');
  });

  it('has an unknown outcome when its reply was lost and no turn runs', async () => {
    const calls = server.calls.length;
    server.will(loseReply, refuse(503, 'unavailable'), nothingRuns);
    expect(await failureOf(told())).toBe('outcome-unknown');
    expect(callsAfter(calls)).toEqual([POST, get(), get()]);
  });

  it('is refused while a turn runs', async () => {
    server.will(refuse(409, 'turn_running'));
    const refused = await failureOf(transportWith().sendMessages(sent));
    expect(isParleyClientError(refused, 'turn_running')).toBe(true);
  });

  it('that answers a question begins no turn, and may be sent twice', async () => {
    const calls = server.calls.length;
    const data = { elicitationId: 'el_1', action: 'decline', responseId: 'r1' };
    const answer: UIMessage = {
      id: 'u2',
      role: 'user',
      parts: [{ type: 'data-elicitation-response', data }],
    };
    server.will(loseReply, reply({ elicitationId: 'el_1', status: 'declined' }));
    expect(await read(await transportWith().sendMessages({ ...sent, messages: [answer] }))).toEqual([]);
    expect(callsAfter(calls)).toEqual([POST, POST]);
  });

  it('goes out with what it was given, and so does each reconnect', async () => {
    const calls = server.calls.length;
    let tokens = 0;
    const transport = transportWith({
      token: () => `token-${++tokens}`,
      headers: () => ({ 'X-Supports-Elicitation': 'url' }),
      body: { agent: 'helper', id: 'not mine' },
      delivery: 'detach',
    });
    server.will(stream(textOfLines(whole.slice(0, 5)), 'cut'), stream(textOfLines(whole.slice(5))));
    await read(await transport.sendMessages({ ...sent, headers: { 'x-more': '1' }, body: { extra: true } }));
    const [post, resume] = server.calls.slice(calls);
    expect(post?.body).toEqual({
      agent: 'helper',
      extra: true,
      id: 'c1',
      messages: [said],
      trigger: 'submit-message',
    });
    const both = { 'x-supports-elicitation': 'url', 'x-parley-delivery': 'detach', 'x-more': '1' };
    expect(post?.headers).toMatchObject({ ...both, authorization: 'Bearer token-1' });
    expect(resume?.headers).toMatchObject({ ...both, authorization: 'Bearer token-2' });
  });

  it('says that its chat shows questions unless told otherwise', async () => {
    server.will(stream(textOfLines(whole)));
    await told();
    expect(server.calls.at(-1)?.headers).toMatchObject({ 'x-supports-elicitation': 'true' });
    expect(server.calls.at(-1)?.headers).not.toHaveProperty('x-parley-delivery');
  });
});

describe('a chat', () => {
  const reset: Line = { data: { type: 'data-stream-reset', data: { v: 1 }, transient: true } };
  const anew: readonly Line[] = [
    reset,
    start,
    { id: '9-7', data: { type: 'text-start', id: 't' } },
    { id: '9-8', data: { type: 'text-delta', id: 't', delta: 'Good morning' } },
    ...end.map((line): Line => ({ ...line, id: line.data === '[DONE]' ? '9-9' : '9-8' })),
  ];
  const half = textOfLines([start, startStep, ...hello]);

  it('that is attached takes back what was told in vain', async () => {
    const calls = server.calls.length;
    server.will(stream(half, 'cut'), stream(textOfLines(anew)));
    const transport = transportWith();
    const chat = new PlainChat({ id: 'c1', transport });
    const leave = transport.attach(chat);
    await chat.sendMessage({ text: 'hello' });
    await chat.untilSettled();
    expect(chat.shown.filter((text) => text !== '')).toEqual(['Hello', 'Good morning']);
    expect(chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(chat.errors).toEqual([]);
    expect(chat.finishes.map(({ isAbort }) => isAbort)).toEqual([true, false]);
    expect(callsAfter(calls)).toEqual([POST, get('9-3')]);
    leave();
  });

  it('that is not attached is told, and mends it by resuming, also when the turn is over by then', async () => {
    const calls = server.calls.length;
    server.will(stream(half, 'cut'), stream(textOfLines(anew)));
    const chat = new PlainChat({ id: 'c1', transport: transportWith() });
    await chat.sendMessage({ text: 'hello' });
    expect(isChatStreamError(chat.error, 'stream-reset')).toBe(true);
    await chat.resumeStream();
    expect([chat.status, chat.reply, chat.messages.length]).toEqual(['ready', 'Good morning', 2]);
    expect(callsAfter(calls)).toEqual([POST, get('9-3')]);
  });

  it('takes nothing back when nothing was shown', async () => {
    server.will(stream(textOfLines([start]), 'cut'), stream(textOfLines(anew)));
    const chat = new PlainChat({ id: 'c1', transport: transportWith() });
    await chat.sendMessage({ text: 'hello' });
    expect([chat.reply, chat.errors.length, chat.finishes.length]).toEqual(['Good morning', 0, 1]);
  });

  it('that stops reading closes its connection, and stops no turn', async () => {
    const calls = server.calls.length;
    let isClosed = false;
    server.will((res, call) => {
      res.on('close', () => {
        isClosed = true;
      });
      stream(half, 'open')(res, call);
    });
    const chat = new PlainChat({ id: 'c1', transport: transportWith() });
    const sending = chat.sendMessage({ text: 'hello' });
    await waitUntil(() => chat.reply === 'Hello', { what: 'the first text' });
    await chat.stop();
    await sending;
    await waitUntil(() => isClosed, { what: 'the end of the connection' });
    expect(chat.finishes).toEqual([{ isAbort: true, isError: false, isDisconnect: false }]);
    expect(callsAfter(calls)).toEqual([POST]);
  });

  it('that stops reading while there is no connection asks no more', async () => {
    const calls = server.calls.length;
    server.will(stream(half, 'cut'));
    const chat = new PlainChat({
      id: 'c1',
      transport: transportWith({ retry: { firstDelayMs: 600_000, giveUpMs: 6_000_000 } }),
    });
    const sending = chat.sendMessage({ text: 'hello' });
    await waitUntil(() => chat.reply === 'Hello', { what: 'the first text' });
    await chat.stop();
    await sending;
    expect([chat.status, ...callsAfter(calls)]).toEqual(['ready', POST]);
  });

  it('resumes a running turn from its start, and nothing where none runs', async () => {
    server.will(nothingRuns, stream(textOfLines(whole)));
    const transport = transportWith();
    expect(await transport.reconnectToStream({ chatId: 'c1' })).toBeNull();
    expect(await read(await transport.reconnectToStream({ chatId: 'c1' }))).toEqual(chunksOf(whole));
    expect(callsAfter(server.calls.length - 2)).toEqual([get(), get()]);
  });

  it('stops its turn on the server', async () => {
    server.will(refuse(503, 'unavailable'), reply({ stopped: true }));
    expect(await transportWith().stopTurn('c1')).toBe(true);
    expect(server.calls.at(-1)).toMatchObject({ method: 'POST', path: '/run/api/chat/c1/stop' });
  });
});
