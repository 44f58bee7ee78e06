import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { loseReply, type Move, refuse, reply, stream, textOfLines } from '../../harness/chat/chat-server.ts';
import { PlainChat } from '../../harness/chat/plain-chat.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { chunksIn, chunksOf, errorOf, failureOf, POST, sent, serveChats, whole } from './chat-turn.ts';

const { server, made, transportWith } = await serveChats();

const STOP = ['POST', '/run/api/chat/c1/stop', undefined];
const wholeReply = stream(textOfLines(whole));
/** The second try comes after seconds. */
const SLOW = { firstDelayMs: 10_000, delayMsMax: 10_000 };

const arrived = (count: number, what: string) => waitUntil(() => made().length >= count, { what });

/** Accepts a request and delays its reply. */
class Hanging {
  isClosed = false;
  response: ServerResponse | undefined;

  readonly move: Move = (res) => {
    this.response = res;
    res.on('close', () => {
      this.isClosed = true;
    });
  };
}

describe('stopTurn', () => {
  it('stops the turn on the server, and reports whether one was running', async () => {
    server.will(reply({ stopped: true }), reply({ stopped: false }));
    expect(await transportWith().stopTurn('c1')).toBe(true);
    expect(server.calls.at(-1)).toMatchObject({ method: 'POST', path: '/run/api/chat/c1/stop' });
    expect(await transportWith().stopTurn('c1')).toBe(false);
  });

  it.each<[string, Move, boolean]>([
    ['was lost, so the turn may have been stopped', loseReply, true],
    ['was a 500, so the turn may have been stopped', refuse(500, 'internal'), true],
    ['refused it for the number of calls, so nothing was stopped', refuse(429, 'rate_limited'), false],
  ])('tries again when its reply %s', async (_what, trouble, isStopped) => {
    server.will(trouble, reply({ stopped: false }));
    expect(await transportWith().stopTurn('c1')).toBe(isStopped);
    expect(made()).toEqual([STOP, STOP]);
  });

  it('gives up sooner than the search for a turn', async () => {
    server.will(refuse(503, 'unavailable', '40'));
    const stopping = transportWith({ retry: { giveUpMs: 300_000 } }).stopTurn('c1');
    expect(await failureOf(stopping)).toMatchObject({ code: 'unavailable', status: 503 });
  });

  it('ends between two tries when its signal is aborted', async () => {
    server.will(refuse(503, 'unavailable'));
    const life = new AbortController();
    const stopping = errorOf(transportWith({ retry: SLOW }).stopTurn('c1', { signal: life.signal }));
    await arrived(1, 'the first try');
    life.abort();
    expect(await stopping).toMatchObject({ name: 'AbortError' });
    expect(made()).toEqual([STOP]);
  });
});

describe('stopTurn aborts a message', () => {
  it('that is being retried: it begins no turn afterwards', async () => {
    let isStopAsked = false;
    server.will();
    server.always((res, call) => {
      if (call.path.endsWith('/stop')) isStopAsked = true;
      const move = isStopAsked ? wholeReply : refuse(503, 'unavailable');
      (call.path.endsWith('/stop') ? reply({ stopped: false }) : move)(res, call);
    });
    const transport = transportWith({ retry: { firstDelayMs: 20, delayMsMax: 20 } });
    const chat = new PlainChat({ id: 'c1', transport });
    const sending = chat.sendMessage({ text: 'delete all' });
    await arrived(2, 'the second sending');
    expect(await transport.stopTurn('c1')).toBe(true);
    await sending;
    expect([chat.status, chat.reply, chat.errors]).toEqual(['ready', '', []]);
    expect(chat.finishes).toEqual([{ isAbort: true, isError: false, isDisconnect: false }]);
    expect(server.calls.at(-1)?.path).toBe('/run/api/chat/c1/stop');
  });

  it('that waits for its reply: the turn that it may have begun is stopped on the server', async () => {
    const post = new Hanging();
    server.will(post.move, reply({ stopped: true }));
    const transport = transportWith();
    const sending = failureOf(transport.sendMessages(sent));
    await arrived(1, 'the message');
    expect(await transport.stopTurn('c1')).toBe(true);
    expect(await sending).toMatchObject({ name: 'AbortError' });
    await waitUntil(() => post.isClosed, { what: 'the end of its connection' });
    expect(made()).toEqual([POST, STOP]);
  });

  it('of its own chat only, and none that has its reply', async () => {
    const post = new Hanging();
    server.will(wholeReply, post.move, reply({ stopped: false }));
    const transport = transportWith();
    const reading = transport.sendMessages(sent).then(chunksIn);
    await reading;
    const other = transport.sendMessages({ ...sent, chatId: 'c2' }).then(chunksIn);
    await arrived(2, "another chat's message");
    expect(await transport.stopTurn('c1')).toBe(false);
    const { response } = post;
    if (response === undefined) throw new Error("There is no reply to another chat's message.");
    wholeReply(response, { method: 'POST', path: '', headers: {}, body: undefined });
    expect([await reading, await other]).toEqual([chunksOf(whole), chunksOf(whole)]);
  });
});

describe('a message that is sent while stopTurn tries', () => {
  it('ends the retries: another try would stop the turn of this message', async () => {
    server.will(refuse(503, 'unavailable'), wholeReply, reply({ stopped: true }));
    const transport = transportWith({ retry: SLOW });
    const stopping = errorOf(transport.stopTurn('c1'));
    await arrived(1, 'the first try');
    expect(await chunksIn(await transport.sendMessages(sent))).toEqual(chunksOf(whole));
    expect(await stopping).toMatchObject({ code: 'unavailable', status: undefined });
    expect(made()).toEqual([STOP, POST]);
  });

  it('waits for the current try, and other chats do not', async () => {
    const asked = new Hanging();
    server.will(asked.move, wholeReply, wholeReply);
    const transport = transportWith();
    const stopping = transport.stopTurn('c1');
    await arrived(1, 'the first try');
    const reading = transport.sendMessages(sent).then(chunksIn);
    await chunksIn(await transport.sendMessages({ ...sent, chatId: 'c2' }));
    expect(made()).toEqual([STOP, POST]);
    expect(server.calls.at(-1)?.body).toMatchObject({ id: 'c2' });
    asked.response?.writeHead(200, { 'content-type': 'application/json' }).end('{"stopped":true}');
    expect(await stopping).toBe(true);
    expect(await reading).toEqual(chunksOf(whole));
    expect(made()).toEqual([STOP, POST, POST]);
  });

  it('is aborted by the next stopTurn while it waits, or by its own signal', async () => {
    const asked = new Hanging();
    server.will(asked.move, reply({ stopped: false }));
    const transport = transportWith();
    const life = new AbortController();
    const first = errorOf(transport.stopTurn('c1', { signal: life.signal }));
    await arrived(1, 'the first try');
    const ending = new AbortController();
    const aborted = errorOf(transport.sendMessages({ ...sent, abortSignal: ending.signal }));
    ending.abort();
    expect(await aborted).toMatchObject({ name: 'AbortError' });
    const sending = errorOf(transport.sendMessages(sent));
    expect(await transport.stopTurn('c1')).toBe(true);
    expect(await sending).toMatchObject({ name: 'AbortError' });
    life.abort();
    expect(await first).toMatchObject({ name: 'AbortError' });
    expect(made()).toEqual([STOP, STOP]);
  });
});
