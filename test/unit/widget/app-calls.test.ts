import { expect, it } from 'vitest';
import { createAppCalls } from '../../../clients/widget/src/app/parley.ts';

const RESULT = { content: [{ type: 'text', text: 'Refunded.' }] };
const reply = (status: number, body: object) => new Response(JSON.stringify(body), { status });
const waiting = () => reply(202, { callId: 'one', waits: [] });
const ended = () => reply(200, { callId: 'one', result: RESULT });

/** Calls `refund` where the server replies with these, in this order; what was sent, and what became of the call. */
async function call(...replies: (() => Response | Promise<Response>)[]) {
  const sent: string[] = [];
  const server = {
    getToken: () => 'token',
    fetch: async (url: string | URL | Request, init?: RequestInit) => {
      sent.push(`${init?.method} ${String(url).split('/').at(-1)}`);
      return (replies.shift() ?? ended)();
    },
  };
  const calls = createAppCalls(server, { conversationId: 'c', pageId: 'p' });
  const { signal } = new AbortController();
  const outcome = await calls.call('refund', {}, signal, () => undefined).catch(({ message }) => message);
  return { sent, outcome };
}

it.concurrent.each([
  ['the network loses', () => Promise.reject(new TypeError('lost'))],
  ['a pod that is busy refuses', () => reply(429, { detail: 'Later.' })],
  ['a proxy refuses during an upgrade', () => new Response('<html>', { status: 502 })],
])('a read that %s does not end a call of a page, which goes on', async (_what, refusal) => {
  expect(await call(waiting, refusal)).toEqual({
    sent: ['POST calls', 'GET one?seen=0', 'GET one?seen=0'],
    outcome: RESULT,
  });
});

it.each([
  ['a call that is refused', [() => reply(503, { detail: 'Later.' })], 'Later.', 1],
  ['a call that is not there any more', [waiting, () => reply(404, {})], 'The call failed (404).', 2],
])('%s is not made again', async (_what, replies, outcome, count) => {
  const got = await call(...replies);
  expect([got.outcome, got.sent.length]).toEqual([outcome, count]);
});
