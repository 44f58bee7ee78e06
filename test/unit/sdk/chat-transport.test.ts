import { isParleyClientError } from '@parley/sdk';
import { type ChatStreamReason, type ChatTransportOptions, isChatStreamError } from '@parley/sdk/chat';
import type { UIMessage, UIMessageChunk } from 'ai';
import { describe, expect, it } from 'vitest';
import {
  keepTurns,
  type Line,
  loseReply,
  type Move,
  nothingRuns,
  refuse,
  reply,
  stream,
  textOfLines,
} from '../../harness/chat/chat-server.ts';
import {
  chunksIn,
  chunksOf,
  end,
  errorOf,
  failureOf,
  hello,
  IMPATIENT,
  POST,
  QUICK,
  reset,
  said,
  sent,
  serveChats,
  start,
  startStep,
  whole,
  world,
} from './chat-turn.ts';

const { server, calls, made, transportWith } = await serveChats();

/** Reads one message's stream to its end. */
async function replyWith(more: Partial<ChatTransportOptions> = {}): Promise<UIMessageChunk[]> {
  return chunksIn(await transportWith(more).sendMessages(sent));
}

const proxyPage: Move = (res) => res.writeHead(502).end('bad gateway');

describe('a stream that is cut', () => {
  // Where a stream may be cut is any of its bytes: chat-property.test.ts.
  const firstOf = (count: number) => textOfLines(whole.slice(0, count));

  it('between its finish and its end is complete', async () => {
    server.will(stream(firstOf(whole.length - 1), 'cut'));
    expect(await replyWith()).toEqual(chunksOf(whole));
    expect(made()).toEqual([POST]);
  });

  it('does not mistake a clean end for the end of the turn, and skips events that it has', async () => {
    server.will(
      stream(firstOf(5), 'end'),
      stream(textOfLines([start, ...hello.slice(1), ...whole.slice(5)])),
    );
    expect(await replyWith()).toEqual(chunksOf(whole));
  });

  it('reconnects through 503, 429, 502 and a lost connection, to the end of the turn', async () => {
    server.will(
      stream(firstOf(5), 'cut'),
      refuse(503, 'unavailable', '0'),
      refuse(429, 'rate_limited'),
      proxyPage,
      loseReply,
      stream(textOfLines(whole.slice(5))),
    );
    expect(await replyWith()).toEqual(chunksOf(whole));
  });

  it('obeys the delay that a pod names when it ends the stream, and not the one for its start when it died', async () => {
    server.will(stream(`${firstOf(5)}retry: 1\n\n`, 'cut'), stream(textOfLines(whole.slice(5))));
    expect(await replyWith({ retry: IMPATIENT })).toEqual(chunksOf(whole));
    server.will(stream(`retry: 600000\n\n${firstOf(5)}`, 'cut'), stream(textOfLines(whole.slice(5))));
    expect(await replyWith({ retry: { ...QUICK, giveUpMs: 30_000 } })).toEqual(chunksOf(whole));
  });

  it('obeys Retry-After, and fails when that exceeds its budget', async () => {
    server.will(stream(firstOf(5), 'cut'), refuse(503, 'unavailable', '3600'));
    const error = await errorOf(replyWith({ retry: { ...QUICK, giveUpMs: 30_000 } }));
    expect(error).toMatchObject({ reason: 'unreachable', cause: { status: 503 } });
  });

  it('counts as lost when it is idle for too long', async () => {
    server.will(stream(firstOf(5), 'open'), stream(textOfLines(whole.slice(5))));
    // Longer than this process may be starved: the first reply comes at once.
    expect(await replyWith({ heartbeatTimeoutMs: 4_000 })).toEqual(chunksOf(whole));
  });

  it.each<[string, Line['data'] | undefined, ChatStreamReason]>([
    ['no turn runs any more', undefined, 'ended-unseen'],
    ['another turn runs', { type: 'start', messageId: 'm2' }, 'ended-unseen'],
  ])('says so when %s, and what the trouble was', async (_when, other, reason) => {
    const next = other === undefined ? nothingRuns : stream(textOfLines([reset, { id: '8-1', data: other }]));
    server.will(stream(firstOf(5), 'cut'), refuse(500, 'internal'), next);
    expect(await errorOf(replyWith())).toMatchObject({ reason, cause: { code: 'internal', status: 500 } });
  });

  it('fails when its reader is no longer authorized', async () => {
    server.will(stream(firstOf(5), 'cut'), refuse(401, 'unauthenticated'));
    expect(await failureOf(replyWith())).toMatchObject({ code: 'unauthenticated', status: 401 });
  });
});

describe('a message', () => {
  const unfinished: Line = { data: { type: 'start', messageId: 'm1' } };

  /** The server stores one turn for each message. */
  const keep = () => keepTurns(() => whole);

  const keys = () => calls().map(({ headers }) => headers['idempotency-key']);

  it.each<[string, Move[]]>([
    ['nothing was begun', [refuse(503, 'unavailable', '0'), refuse(429, 'rate_limited')]],
    ['the server failed', [refuse(500, 'internal')]],
    ['a proxy lost its pod', [proxyPage, (res) => res.writeHead(503).end('no healthy upstream')]],
    ['it was lost', [loseReply]],
  ])('is sent again with the same key when %s', async (_why, troubles) => {
    const turns = keep();
    server.will(...troubles, turns.take('whole'));
    expect(await replyWith()).toEqual(chunksOf(whole));
    expect(made()).toEqual(Array(troubles.length + 1).fill(POST));
    expect([new Set(keys()).size, turns.begun]).toEqual([1, 1]);
  });

  it('is sent again when the connection could not be made', async () => {
    const failures = [Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const cause = failures.shift();
      if (cause !== undefined) throw new TypeError('fetch failed', { cause });
      return globalThis.fetch(input, init);
    };
    server.will(stream(textOfLines(whole)));
    expect(await replyWith({ fetch })).toEqual(chunksOf(whole));
    expect(made()).toEqual([POST]);
  });

  it("that was lost reads nothing of another tab's turn", async () => {
    const turns = keep();
    turns.isBusy = true;
    server.will(loseReply, turns.take('whole'));
    server.always(stream(textOfLines([{ id: '8-1', data: { type: 'start', messageId: 'other' } }])));
    expect(await failureOf(replyWith())).toMatchObject({ code: 'turn_running', status: 409 });
    expect([turns.begun, ...made()]).toEqual([0, POST, POST]);
  });

  it("that arrived before another tab's gets its own turn", async () => {
    const turns = keep();
    const thenBusy: Move = (res, call) => {
      turns.take('lost')(res, call);
      turns.isBusy = true;
    };
    server.will(thenBusy, turns.take('whole'));
    expect(await replyWith()).toEqual(chunksOf(whole));
    expect(turns.begun).toBe(1);
  });

  it('is sent unchanged, even if its chat changes in the meantime, and the next has a new key', async () => {
    const turns = keep();
    const changed: UIMessage = structuredClone(said);
    const changeIt: Move = (res, call) => {
      changed.parts = [{ type: 'text', text: 'something else' }];
      turns.take('lost')(res, call);
    };
    server.will(changeIt, turns.take('whole'), turns.take('whole'));
    const transport = transportWith();
    await chunksIn(await transport.sendMessages({ ...sent, messages: [changed] }));
    await chunksIn(await transport.sendMessages(sent));
    expect(turns.begun).toBe(2);
    expect(new Set(keys()).size).toBe(2);
  });

  it.each([
    [
      'it is too early for too long',
      refuse(503, 'unavailable', '3600'),
      { code: 'unavailable', status: 503 },
    ],
    ['it fails for too long', refuse(500, 'internal'), { code: 'internal', status: 500 }],
    ['its reply is lost for too long', loseReply, { code: 'unavailable', status: undefined }],
  ])('has an unknown outcome, with the last trouble as its cause, when %s', async (_why, move, cause) => {
    server.will(move);
    const error = await errorOf(replyWith({ retry: IMPATIENT }));
    expect(isChatStreamError(error, 'outcome-unknown')).toBe(true);
    expect(error).toMatchObject({ cause });
  });

  it.each<[string, string]>([
    ['tells nothing', ''],
    ['tells what is thrown away, for it is cut before its event is whole', textOfLines([unfinished])],
  ])('is not sent for ever when its stream always %s', async (_what, text) => {
    server.will();
    server.always(stream(text, 'cut'));
    expect(await failureOf(replyWith({ retry: { firstDelayMs: 20, giveUpMs: 200 } }))).toBe('unreachable');
  });

  it.each([
    [400, 'invalid_request'],
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [404, 'not_found'],
    [409, 'turn_running'],
    [409, 'idempotency_mismatch'],
    [413, 'too_large'],
  ] as const)('is refused at once with %i %s', async (status, code) => {
    server.will(refuse(status, code));
    const refused = await failureOf(transportWith().sendMessages(sent));
    expect(isParleyClientError(refused, code)).toBe(true);
    expect(made()).toEqual([POST]);
  });

  it('carries the given headers and body, and so does each reconnect', async () => {
    let tokens = 0;
    const transport = transportWith({
      token: () => `token-${++tokens}`,
      headers: () => ({ 'X-Supports-Elicitation': 'url' }),
      body: { agent: 'helper', id: 'not mine' },
      delivery: 'detach',
    });
    server.will(stream(textOfLines(whole.slice(0, 5)), 'cut'), stream(textOfLines(whole.slice(5))));
    const extras = { headers: { 'x-more': '1' }, body: { extra: true } };
    await chunksIn(await transport.sendMessages({ ...sent, ...extras }));
    const [post, resume] = calls();
    expect(post?.body).toEqual({ agent: 'helper', extra: true, id: 'c1', messages: [said] });
    const both = { 'x-supports-elicitation': 'url', 'x-parley-delivery': 'detach', 'x-more': '1' };
    expect(post?.headers).toMatchObject({ ...both, authorization: 'Bearer token-1' });
    expect(resume?.headers).toMatchObject({ ...both, authorization: 'Bearer token-2' });
    expect(resume?.headers).not.toHaveProperty('idempotency-key');
  });

  it('declares support for questions by default', async () => {
    server.will(stream(textOfLines(whole)));
    await replyWith();
    expect(server.calls.at(-1)?.headers).toMatchObject({ 'x-supports-elicitation': 'true' });
    expect(server.calls.at(-1)?.headers).not.toHaveProperty('x-parley-delivery');
  });

  it.each([
    ['a header', { headers: { 'x-secret': 'top\nsecret' } }],
    ['the body', { body: { secret: 1n } }],
  ])(
    'that cannot go out fails without a request when it is %s, and repeats no value',
    async (_what, more) => {
      const failure = await errorOf(replyWith(more));
      expect(isParleyClientError(failure, 'invalid_request')).toBe(true);
      expect(String(failure)).not.toContain('secret');
      expect((failure as Error).cause).toBeUndefined();
      expect(calls()).toEqual([]);
    },
  );
});

describe('an answer to a question', () => {
  const data = { elicitationId: 'el_1', action: 'decline', responseId: 'r1' };
  const answer: UIMessage = { id: 'u2', role: 'user', parts: [{ type: 'data-elicitation-response', data }] };
  const answering = () => transportWith().sendMessages({ ...sent, messages: [said, answer] });

  it('begins no turn, is sent completely, and is safe to repeat', async () => {
    server.will(loseReply, reply({ elicitationId: 'el_1', status: 'declined' }));
    expect(await chunksIn(await answering())).toEqual([]);
    expect(made()).toEqual([POST, POST]);
    expect(server.calls.at(-1)?.body).toMatchObject({ messages: [{ role: 'user' }, answer] });
  });

  it.each<[string, Move]>([
    ['a page', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['JSON of somebody else', reply({ ok: true })],
    ['a stream', stream(textOfLines([startStep, world, ...end]))],
  ])('is not recorded when the reply is %s', async (_what, move) => {
    server.will(move);
    expect(await failureOf(answering())).toMatchObject({ code: 'internal' });
  });

  it("that the server refuses fails with the server's error", async () => {
    server.will(refuse(409, 'already_settled'));
    expect(await failureOf(answering())).toMatchObject({ code: 'already_settled', status: 409 });
  });
});
