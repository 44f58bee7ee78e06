import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createDrain } from '../../../services/api/src/http/life/drain.ts';
import { createHeartbeats } from '../../../services/api/src/http/life/heartbeats.ts';
import {
  type EventsReply,
  type SseFrameEvent,
  type SseOptions,
  sendEvents,
} from '../../../services/api/src/http/sse.ts';
import { encodeTurn } from '../../../services/api/src/turns/encoder.ts';
import { pythonEvents } from '../../harness/http/python-sse.ts';
import { paced } from '../../harness/pace.ts';
import { waitUntil } from '../../harness/wait-until.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const EVENTS = 2_000;

it('a stream does not retain the events that it has sent', async () => {
  const sent: WeakRef<object>[] = [];
  async function* events(): AsyncGenerator<SseFrameEvent, void> {
    for (let index = 0; index < EVENTS; index += 1) {
      const data = { index };
      sent.push(new WeakRef(data));
      yield { event: 'elicitation-updated', data };
    }
    await new Promise(() => undefined);
  }
  const { reply, drain, close } = await stream(() => ({ events: events() }), 60_000);
  await waitUntil(async () => reply.text.includes(`{"index":${EVENTS - 1}}`), { what: 'the last event' });
  await waitUntil(
    async () => {
      collect();
      return sent.filter((event) => event.deref() !== undefined).length < EVENTS / 100;
    },
    { what: 'the events to be collected', timeoutMs: 20_000 },
  );
  drain.begin();
  // A clean end would read as the end of the stream.
  await expect(reply.ended).rejects.toThrow('terminated');
  expect(reply.text).toMatch(/^retry: \d+\n/);
  expect(reply.text).toMatch(/\n\nretry: \d+\n$/);
  await close();
});

it.each([
  { ids: 'with ids', resumable: true, isFollowed: false },
  { ids: 'with ids, followed', resumable: true, isFollowed: true },
  { ids: 'without ids', resumable: false, isFollowed: false },
])("heartbeats and delays are no events for the decoder of Python's clients, $ids", async (kind) => {
  const { resumable } = kind;
  async function* events(sent: { readonly text: string }) {
    const beats = () => sent.text.split(': heartbeat\n').length;
    for (let at = 1; at <= 3; at += 1) {
      yield { text: JSON.stringify({ at }), ...(resumable && { id: `${at}-0` }) };
      const before = beats();
      await waitUntil(() => beats() > before, { what: 'a heartbeat', everyMs: 1 });
    }
    await new Promise(() => undefined);
  }
  const { reply, drain, close } = await stream((sent) => ({ events: events(sent), ...kind }), 5);
  await waitUntil(() => reply.text.includes('{"at":3}'), { what: 'the last event' });
  drain.begin();
  await expect(reply.ended).rejects.toThrow('terminated');
  const expected = [1, 2, 3].map((at) => ({ event: undefined, data: JSON.stringify({ at }) }));
  expect(pythonEvents(reply.text)).toEqual(expected);
  expect(reply.text.includes('retry:')).toBe(resumable);
  await close();
});

it('a followed stream is told anew when to return, as the streams of its pod become more', async () => {
  async function* silent(): AsyncGenerator<SseFrameEvent, void> {
    await new Promise(() => undefined);
  }
  const { reply, drain, close } = await stream(() => ({ events: silent(), isFollowed: true }), 5);
  await waitUntil(() => reply.text.includes('retry:'), { what: 'the first delay' });
  expect(reply.text).toMatch(/^retry: 100\d\n/);
  for (let other = 0; other < 20_000; other += 1) drain.add(() => undefined);
  const delays = () => [...reply.text.matchAll(/: heartbeat\nretry: (\d+)\n/g)].map(([, ms]) => Number(ms));
  await waitUntil(() => delays().some((ms) => ms > 11_000), { what: 'a delay for many streams' });
  expect(Math.max(...delays())).toBeLessThan(21_000);
  drain.begin();
  await expect(reply.ended).rejects.toThrow('terminated');
  await close();
});

it.each([{ ends: 'the token expires' }, { ends: 'the pod drains' }])(
  'a turn that has ended has no other end, also where $ends while its last bytes are counted',
  async ({ ends }) => {
    const expires = ends === 'the token expires';
    const encoder = { encode: () => ({ frames: [{ text: 'x'.repeat(2_000) }], next: 'end' as const }) };
    const place = { signal: new AbortController().signal, release: () => undefined };
    async function* turn() {
      yield { type: 'stale' } as const;
    }
    const words = [{ text: 'never' }];
    const counting = { isBegun: false, end: (): void => undefined };
    const expiresAtMs = Date.now() + (expires ? paced(3_000) : 60_000);
    const { reply, drain, close } = await stream(
      () => ({ events: encodeTurn(turn(), encoder, place), onCut: words, onExpiry: () => words }),
      60_000,
      {
        expiresAtMs,
        sent: () =>
          new Promise((resolve) => {
            Object.assign(counting, { isBegun: true, end: () => resolve(0) });
          }),
      },
    );
    await waitUntil(() => counting.isBegun, { what: 'the counting' });
    if (!expires) drain.begin();
    await waitUntil(() => !expires || Date.now() > expiresAtMs + 5, { what: 'the expiry' });
    counting.end();
    await reply.ended;
    expect(reply.text).toMatch(/data: x+\n\n$/);
    await close();
  },
);

/** A reply that is being read, from a server of its own. */
async function stream(
  open: (sent: { readonly text: string }) => EventsReply,
  heartbeatMs: number,
  options: Partial<SseOptions> = {},
) {
  const reply = { text: '', ended: Promise.resolve() };
  const drain = createDrain();
  const server = createServer((_req, res) => {
    void sendEvents(res, open(reply), {
      heartbeats: createHeartbeats(heartbeatMs),
      slowReaderMs: 60_000,
      drain,
      ...options,
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/`);
  const decoder = new TextDecoder();
  reply.ended = (async () => {
    for await (const chunk of response.body ?? []) reply.text += decoder.decode(chunk, { stream: true });
  })();
  reply.ended.catch(() => undefined);
  return { reply, drain, close: () => new Promise((resolve) => server.close(resolve)) };
}
