import { execFile } from 'node:child_process';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import {
  type AttachableChat,
  type ChatTransportOptions,
  isChatStreamError,
  isTurnWaiting,
} from '@parley/sdk/chat';
import { describe, expect, it } from 'vitest';
import {
  type Line,
  type Move,
  nothingRuns,
  refuse,
  stream,
  textOfLines,
} from '../../harness/chat/chat-server.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';
import { paced } from '../../harness/pace.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import {
  chunksIn,
  chunksOf,
  end,
  failureOf,
  get,
  half,
  IMPATIENT,
  POST,
  reset,
  sent,
  serveChats,
  start,
  startStep,
  whole,
} from './chat-turn.ts';

const { server, calls, made, transportWith } = await serveChats();

/** A connection that stays open, so that the test can write more to it. */
class Held {
  isClosed = false;
  #response: ServerResponse | undefined;
  readonly #lines: readonly Line[];

  constructor(lines: readonly Line[] = []) {
    this.#lines = lines;
  }

  get isOpen() {
    return this.#response !== undefined && !this.isClosed;
  }

  readonly move: Move = (res, call) => {
    this.#response = res;
    res.on('close', () => {
      this.isClosed = true;
    });
    stream(textOfLines(this.#lines), 'open')(res, call);
  };

  write(lines: readonly Line[]) {
    this.#response?.write(textOfLines(lines));
  }
}

const say = (id: string, delta: string): Line => ({ id, data: { type: 'text-delta', id: 't', delta } });
const anew: readonly Line[] = [
  reset,
  start,
  { id: '9-7', data: { type: 'text-start', id: 't' } },
  say('9-8', 'Good morning'),
  ...end.map((line): Line => ({ ...line, id: line.data === '[DONE]' ? '9-9' : '9-8' })),
];

describe('a turn that starts again', () => {
  it('is an error in a chat that is not attached; resuming repairs it, even after the end of the turn', async () => {
    server.will(stream(half, 'cut'), stream(textOfLines(anew)));
    const transport = transportWith();
    const chat = new PlainChat({ id: 'c1', transport });
    transport.attach(chat)();
    await chat.sendMessage({ text: 'hello' });
    expect(isChatStreamError(chat.error, 'stream-reset')).toBe(true);
    await chat.resumeStream();
    expect([chat.status, chat.reply, chat.messages.length]).toEqual(['ready', 'Good morning', 2]);
    expect(made()).toEqual([POST, get('9-3')]);
  });

  it('continues without a reset when nothing was shown', async () => {
    server.will(stream(textOfLines([start]), 'cut'), stream(textOfLines(anew)));
    const chat = new PlainChat({ id: 'c1', transport: transportWith() });
    await chat.sendMessage({ text: 'hello' });
    expect([chat.reply, chat.errors.length, chat.finishes.length]).toEqual(['Good morning', 0, 1]);
  });

  it('has its connection closed when the attached chat does not read it', async () => {
    const second = new Held(anew.slice(0, 4));
    server.will(stream(half, 'cut'), second.move);
    const transport = transportWith();
    const chat = new PlainChat({ id: 'c1', transport });
    const unread: AttachableChat = {
      id: 'c1',
      stop: () => chat.stop(),
      resumeStream: async () => undefined,
    };
    transport.attach(unread);
    await chat.sendMessage({ text: 'hello' });
    await waitUntil(() => second.isClosed, { what: 'the end of the connection' });
    expect(chat.finishes).toEqual([{ isAbort: true, isError: false, isDisconnect: false }]);
  });
});

it('a turn that waits for its next reader does not keep the process alive', async () => {
  server.will(stream(half, 'cut'), stream(textOfLines(anew)));
  const script = `
    import { createChatTransport } from '@parley/sdk/chat';
    const transport = createChatTransport({ baseUrl: '${server.url}', token: 'a-token' });
    try {
      for await (const chunk of await transport.sendMessages(${JSON.stringify(sent)}));
    } catch (error) {
      console.log(error.reason);
    }`;
  const node = ['--conditions=parley-source', '--import', 'tsx', '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, node, { timeout: 100_000 });
  expect(stdout.trim()).toBe('stream-reset');
});

describe('a chat that stops', () => {
  it('closes its connection, and stops no turn', async () => {
    const first = new Held([start, startStep, say('9-2', 'Hello')]);
    server.will(stream(half, 'cut'), first.move);
    const chat = new PlainChat({ id: 'c1', transport: transportWith() });
    const sending = chat.sendMessage({ text: 'hello' });
    await waitUntil(() => first.isOpen, { what: 'the second connection' });
    await chat.stop();
    await sending;
    await waitUntil(() => first.isClosed, { what: 'the end of the connection' });
    expect(chat.finishes).toEqual([{ isAbort: true, isError: false, isDisconnect: false }]);
    expect(made()).toEqual([POST, get('9-3')]);
  });

  it('aborts a reconnect that is in progress', async () => {
    let response: ServerResponse | undefined;
    let isClosed = false;
    const silent: Move = (res) => {
      response = res;
      res.on('close', () => {
        isClosed = true;
      });
    };
    server.will(stream(half, 'cut'), silent);
    const chat = new PlainChat({ id: 'c1', transport: transportWith() });
    const sending = chat.sendMessage({ text: 'hello' });
    await waitUntil(() => response, { what: 'the reconnect' });
    await chat.stop();
    await sending;
    await waitUntil(() => isClosed, { what: 'the end of the reconnect' });
    expect([chat.status, ...made()]).toEqual(['ready', POST, get('9-3')]);
  });

  it('sends no request when it stops during a back-off', async () => {
    const retry = { firstDelayMs: paced(1_000), delayMsMax: paced(1_000) };
    server.will(stream(half, 'cut'));
    server.always(refuse(503, 'unavailable'));
    const chat = new PlainChat({ id: 'c1', transport: transportWith({ retry }) });
    const sending = chat.sendMessage({ text: 'hello' });
    await waitUntil(() => chat.reply === 'Hello', { what: 'the first text' });
    await chat.stop();
    await sending;
    // A delay lasts half of that or more: within three of another chat, the first one of this chat would have ended.
    const other = new PlainChat({ id: 'c2', transport: transportWith({ retry }) });
    void other.resumeStream();
    const asks = () => server.calls.filter(({ path }) => path.includes('/c2/')).length;
    await waitUntil(() => asks() > 3, { what: 'three pauses of another chat' });
    await other.stop();
    const own = calls().filter(({ path }) => !path.includes('/c2/'));
    expect(own.map(({ method }) => method)).toEqual(['POST']);
  });
});

describe('a chat has one reader', () => {
  const oneMoment = [start, startStep, { id: '9-2', data: { type: 'text-start', id: 't' } } as const];
  const asked = [...oneMoment, say('9-3', 'One moment. ')];

  /** A chat whose reply is still being read, while its question is open. */
  async function heldChat() {
    const post = new Held(asked);
    const transport = transportWith();
    const chat = new PlainChat({ id: 'c1', transport });
    transport.attach(chat);
    server.will(post.move);
    const sending = chat.sendMessage({ text: 'seat' });
    await waitUntil(() => chat.reply === 'One moment. ', { what: 'the question' });
    return { chat, post, sending };
  }

  it('and reads from the new connection only when it resumes during a reply', async () => {
    const { chat, post, sending } = await heldChat();
    post.write([say('9-4', 'Thank you. ')]);
    await waitUntil(() => chat.reply.endsWith('Thank you. '), { what: 'the thanks' });
    const again = new Held([start]);
    server.will(again.move);
    const resuming = chat.resumeStream();
    await waitUntil(() => post.isClosed, { what: 'the end of the first connection' });
    await sending;
    // The end of the first reader is not mistaken for that of the second.
    await waitUntil(() => chat.status === 'submitted', { what: 'the second reading' });
    again.write([...asked.slice(1), say('9-4', 'Thank you. '), say('9-5', 'Seated.')]);
    await waitUntil(() => chat.reply.endsWith('Seated.'), { what: 'the end' });
    expect([chat.status, chat.reply]).toEqual(['streaming', 'One moment. Thank you. Seated.']);
    await chat.stop();
    await resuming;
    await waitUntil(() => again.isClosed, { what: 'the end of the second connection' });
    expect([chat.status, chat.errors, chat.messages.length]).toEqual(['ready', [], 2]);
  });

  it('and keeps it when there is nothing to resume', async () => {
    const { chat, post, sending } = await heldChat();
    server.will(nothingRuns);
    await chat.resumeStream();
    post.write([say('9-4', 'Seated.'), ...end.map((line): Line => ({ ...line, id: '9-5' }))]);
    await sending;
    expect([chat.status, chat.reply, chat.errors]).toEqual(['ready', 'One moment. Seated.', []]);
  });

  it('and the older of two ends as aborted, even with unread chunks', async () => {
    const transport = transportWith();
    server.will(stream(textOfLines(whole)), stream(textOfLines(whole)));
    const older = await transport.sendMessages(sent);
    expect(await chunksIn(await transport.reconnectToStream({ chatId: 'c1' }))).toEqual(chunksOf(whole));
    expect(await failureOf(chunksIn(older))).toMatchObject({ name: 'AbortError' });
  });

  it('and the connection of the older of two is closed', async () => {
    const transport = transportWith();
    const first = new Held(asked);
    server.will(first.move, stream(textOfLines(whole)));
    const older = failureOf(transport.sendMessages(sent).then(chunksIn));
    await waitUntil(() => first.isOpen, { what: 'the first connection' });
    expect(await chunksIn(await transport.reconnectToStream({ chatId: 'c1' }))).toEqual(chunksOf(whole));
    expect(await older).toMatchObject({ name: 'AbortError' });
    await waitUntil(() => first.isClosed, { what: 'the end of the first connection' });
  });
});

describe('a turn that waits for its person', () => {
  const waiting: readonly Line[] = [
    ...whole.slice(0, -2),
    {
      id: '9-4',
      data: { type: 'finish', finishReason: 'stop', messageMetadata: { parley: { state: 'waiting' } } },
    },
    { id: '9-5', data: '[DONE]' },
  ];

  it('is resumed once its question has ended', async () => {
    server.will(stream(textOfLines(waiting)), stream(textOfLines(whole)));
    const chat = new PlainChat({ id: 'c1', transport: transportWith() });
    await chat.sendMessage({ text: 'seat' });
    expect(isTurnWaiting(chat)).toBe(true);
    expect(isTurnWaiting({ status: 'streaming', messages: chat.messages })).toBe(false);
    expect(isTurnWaiting({ status: 'ready', messages: [] })).toBe(false);
    await chat.resumeStream();
    expect([isTurnWaiting(chat), chat.status, chat.messages.length]).toEqual([false, 'ready', 2]);
    expect(made()).toEqual([POST, get()]);
  });
});

describe('a chat that resumes', () => {
  it('reads a running turn from its start, and nothing when none is running', async () => {
    server.will(nothingRuns, stream(textOfLines(whole)));
    const transport = transportWith();
    expect(await transport.reconnectToStream({ chatId: 'c1' })).toBeNull();
    expect(await chunksIn(await transport.reconnectToStream({ chatId: 'c1' }))).toEqual(chunksOf(whole));
    expect(made()).toEqual([get(), get()]);
  });

  it('fails when no pod can be reached, and when the turn ended before its first event', async () => {
    server.will(refuse(502, 'unavailable'), stream('', 'cut'), nothingRuns);
    const resumeWith = (more: Partial<ChatTransportOptions> = {}) =>
      failureOf(transportWith(more).reconnectToStream({ chatId: 'c1' }).then(chunksIn));
    expect(await resumeWith({ retry: IMPATIENT })).toBe('unreachable');
    expect(await resumeWith()).toBe('ended-unseen');
  });
});
