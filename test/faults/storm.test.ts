import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@parley/sdk';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { pickFetch } from '../harness/http/pick-fetch.ts';
import { prove } from '../harness/load/size.ts';
import { sized } from '../harness/proof-size.ts';
import { choose, createTimedCalls, newOwner, type Reply, tokenOf } from '../harness/site/pod-client.ts';
import { openSite, type Site, type SitePod, untilReady } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

const READERS = sized(2_000, 60);
/** So few at once that most readers are refused when they come back together. */
const OPENINGS = sized(100, 3);
/** Between the pod that stays and Redis, so that openings take their time on any machine. */
const DELAY_MS = 20;
/** After each ask and answer at the pod that stays. */
const PAUSE_MS = 25;

let site: Site;
let staying: SitePod;

beforeAll(async () => {
  site = await openSite();
  const proxy = await site.proxy();
  proxy.delay(DELAY_MS);
  staying = await site.pod({ REDIS_URL: proxy.url, PARLEY_LIMIT_POD_OPENINGS: String(OPENINGS) });
});
afterAll(() => site?.stop());

const readerOf = (index: number) => ({ tenant: 'acme', userId: `reader-${index}` });

/** People whose clients follow their inboxes at the pods of `urls`; each is counted whenever it is told what waits. */
function follow(urls: readonly string[]) {
  const leaving = new AbortController();
  setMaxListeners(0, leaving.signal);
  onTestFinished(() => leaving.abort());
  const told = Array.from({ length: READERS }, () => 0);
  const retryAfter: string[] = [];
  const pick = pickFetch(urls);
  const send: typeof fetch = async (input, init) => {
    const response = await pick(input, init);
    if (response.status === 503) retryAfter.push(response.headers.get('retry-after') ?? 'none');
    return response;
  };
  for (const reader of told.keys()) {
    const token = () => tokenOf(readerOf(reader));
    const client = createClient({ baseUrl: urls[0] ?? '', token, fetch: send });
    const run = async () => {
      for await (const _item of client.inbox({ signal: leaving.signal }))
        told[reader] = (told[reader] ?? 0) + 1;
    };
    void run();
  }
  const untilTold = (times: number) =>
    waitUntil(() => told.every((count) => count >= times), {
      what: `all readers to be told what waits, ${times} times`,
      timeoutMs: 120_000,
    });
  return { retryAfter, untilTold };
}

/**
 * Asks and answers at a pod again and again until `done` resolves. Returns the statuses of all calls, and apart from them the
 * number of those for which a busy machine kept Redis from replying in time.
 */
async function askAndAnswer(pod: SitePod, done: Promise<unknown>) {
  const statuses: number[] = [];
  let late = 0;
  const timed = createTimedCalls();
  const noted = async (call: () => Promise<Reply>) => {
    const { reply, isLate } = await timed(call);
    if (isLate) late += 1;
    else statuses.push(reply.status);
    return reply;
  };
  let isDone = false;
  const ending = done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const owner = newOwner();
    const { status, body } = await noted(() => pod.tryToAsk({ owner }));
    const asked = { id: String(body.elicitationId), owner, streamRequestId: String(body.streamRequestId) };
    if (status === 201) await noted(() => pod.answer(asked, choose('left')));
    // Without a pause, these calls would take all that a core gives, and the readers would come back later.
    await sleep(PAUSE_MS);
  }
  await ending;
  return { statuses, late };
}

/** Expects that no call failed, but for a pause or two of the machine. */
function noneFailed({ statuses, late }: Awaited<ReturnType<typeof askAndAnswer>>): void {
  expect(new Set(statuses)).toEqual(new Set([201, 200]));
  expect(late).toBeLessThanOrEqual(Math.max(2, statuses.length / 20));
}

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'a pod with many readers ends by %s: they come back as the other pod has room, and no ask and no answer fails there',
  async (signal) => {
    const ending = await site.pod({ PARLEY_DRAIN_MS: '5000' });
    const urls = [ending.url];
    const readers = follow(urls);
    await readers.untilTold(1);
    urls.splice(0, 1, staying.url);
    ending.kill(signal);
    const calls = await askAndAnswer(staying, readers.untilTold(2));
    noneFailed(calls);
    expect(readers.retryAfter.length).toBeGreaterThan(0);
    for (const seconds of readers.retryAfter) expect(seconds).toMatch(/^([1-9]|10)$/);
    prove(
      `a pod with many readers ends by ${signal}`,
      `${READERS} readers came back, ${readers.retryAfter.length} were refused on their way; of ${calls.statuses.length + calls.late} asks and answers ${calls.late} met a late Redis, and none failed otherwise`,
    );
  },
);

it('Redis comes back to a pod with many readers: they are told what they have missed, and no ask and no answer fails there', async () => {
  const proxy = await site.proxy();
  const pod = await site.pod({ REDIS_URL: proxy.url });
  const readers = follow([pod.url]);
  await readers.untilTold(1);
  await proxy.refuse(true);
  proxy.reset();
  for (let reader = 0; reader < READERS; reader += 1) await staying.patient.ask({ owner: readerOf(reader) });
  await proxy.heal();
  await untilReady(pod);
  noneFailed(await askAndAnswer(pod, readers.untilTold(2)));
});
