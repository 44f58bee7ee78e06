import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ChaosProxy } from '../harness/chaos/proxy.ts';
import { checkHistory } from '../harness/history/check-history.ts';
import type { HistoryEvent } from '../harness/history/events.ts';
import { formatReport } from '../harness/history/report.ts';
import { pickFetch } from '../harness/http/pick-fetch.ts';
import { createSettleLoad } from '../harness/load/settle-load.ts';
import { prove } from '../harness/load/size.ts';
import { liveBytes } from '../harness/processes/resources.ts';
import { sized } from '../harness/proof-size.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { COMMAND_TIMEOUT_MS, choose, newOwner, type Reply } from '../harness/site/pod-client.ts';
import { countEndings, readEvents, untilSubscribed } from '../harness/site/redis-monitor.ts';
import { openTwoPods, type Site, type SitePod, untilReady } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

const UNAVAILABLE = { status: 503, code: 'unavailable', retryAfter: expect.stringMatching(/^[1-9]\d*$/) };
/** While Redis is unreachable: each round makes so many calls of four kinds. */
const CALLS = sized(100, 50);
const ROUNDS = 5;
/** A leak of this size shows in each round; what the pod keeps once, such as compiled code and full caches, does not. */
const LEAK_BYTES = 4 * CALLS * 1_000;

let site: Site;
let proxy: ChaosProxy;
/** The pod whose commands go through the proxy. */
let far: SitePod;
let near: SitePod;

beforeAll(async () => {
  ({ site, proxy, far, near } = await openTwoPods({ PARLEY_LIMIT_USER_HISTORY: '1000000' }));
});
afterEach(async () => {
  site.redis.resume();
  await proxy.heal();
  await untilReady(far);
});
afterAll(() => site?.stop());

it('F3 the reply to a settle is lost: the pod sends the commit again, and both replies are the same 200', async () => {
  const asked = await near.patient.ask();
  const mark = 'lost-reply-to-a-settle';
  const cut = proxy.cutAfterNextRequest(mark);
  const answer = { ...choose(mark), responseId: 'response-1' };
  const reply = await far.answer(asked, answer);
  expect(await cut).toBe(true);
  expect(reply).toMatchObject({ status: 200, body: { status: 'accepted', content: { choice: mark } } });
  expect(await near.patient.answer(asked, answer)).toMatchObject({
    status: 200,
    body: { settledAt: reply.body.settledAt },
  });
  const other = await near.patient.answer(asked, choose('another'));
  expect(other).toMatchObject({ status: 409, body: { elicitation: { content: { choice: mark } } } });
  expect(await readEvents(site.redis.url, asked)).toEqual(['elicitation-request', 'elicitation-resolved']);
});

it('F3 the reply to a settle is lost and Redis is unreachable: the reply is 503, and the same answer through another pod gets 200', async () => {
  const asked = await near.patient.ask();
  const mark = 'lost-reply-and-more';
  const cut = proxy.cutAfterNextRequest(mark);
  await proxy.refuse(true);
  const answer = { ...choose(mark), responseId: 'response-1' };
  expect(await far.answer(asked, answer)).toMatchObject(UNAVAILABLE);
  expect(await cut).toBe(true);
  expect(await near.patient.answer(asked, answer)).toMatchObject({
    status: 200,
    body: { content: { choice: mark } },
  });
  expect(await countEndings(site.redis.url, asked)).toBe(1);
});

it('F3 the reply to an ask is lost: the question is asked once', async () => {
  const owner = newOwner();
  const mark = 'lost-reply-to-an-ask?';
  const cut = proxy.cutAfterNextRequest(mark);
  const question = { owner, message: mark, idempotencyKey: `key-${owner.userId}` };
  const first = await far.tryToAsk(question);
  expect(await cut).toBe(true);
  expect(first.status).toBe(201);
  const again = await near.patient.tryToAsk(question);
  expect(again).toMatchObject({
    status: 201,
    replayed: true,
    body: { elicitationId: first.body.elicitationId },
  });
  const { elicitationId, streamRequestId } = first.body;
  const asked = { id: String(elicitationId), owner, streamRequestId: String(streamRequestId) };
  expect(await readEvents(site.redis.url, asked)).toEqual(['elicitation-request']);
});

it('F3 connections are reset repeatedly during settles: nothing is lost or duplicated', async () => {
  const settles = sized(5_000, 60);
  const resets = sized(40, 8);
  const load = createSettleLoad({
    fetch: pickFetch([far.url, near.url]),
    settles,
    askers: sized(50, 20),
    faults: Array.from({ length: resets }, (_, index) => async () => {
      proxy.reset();
      // Every other reset finds the pod connected.
      if (index % 2 === 1) await untilReady(far);
    }),
  });
  await load.run();
  const report = checkHistory(load.history.events);
  prove('F3 connections reset again and again during settles', `${resets} resets\n${formatReport(report)}`);
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(load.settled()).toBe(settles);
});

it('F4 a settle times out and runs later: the first reply is 503, and a repeated request gets the recorded outcome', async () => {
  const asked = await near.patient.ask();
  const mark = 'runs-later';
  const answer = { ...choose(mark), responseId: 'response-1' };
  proxy.beforeNextRequest(mark, () => site.redis.pause());
  const reply = await far.answer(asked, answer);
  expect(site.redis.paused).toBe(true);
  expect(reply).toMatchObject(UNAVAILABLE);
  site.redis.resume();
  await waitUntil(async () => (await near.patient.read(asked)).body.status === 'accepted', {
    what: 'the commit to run',
  });
  expect(await near.patient.answer(asked, answer)).toMatchObject({
    status: 200,
    body: { content: { choice: mark } },
  });
  expect(await near.patient.answer(asked, choose('another'))).toMatchObject({ status: 409 });
  expect(await countEndings(site.redis.url, asked)).toBe(1);
});

it.each(['refuses', 'is silent'] as const)(
  'F9 Redis %s during asks and answers: the reply is 503 with Retry-After, memory does not grow, and service recovers',
  async (how) => {
    const owner = newOwner();
    const question = { owner, idempotencyKey: `key-${owner.userId}` };
    const asked = await near.patient.ask({ owner });
    if (how === 'refuses') {
      await proxy.refuse(true);
      proxy.reset();
    } else proxy.blackhole({ existing: true, fresh: true });
    const calls = (): Promise<Reply>[] => [
      far.tryToAsk(question),
      far.answer(asked, choose('left')),
      far.read(asked),
      far.wait(asked, 1),
    ];
    const many = (rounds: number) => Promise.all(Array.from({ length: rounds }, calls).flat());
    for (const reply of await many(1)) expect(reply).toMatchObject(UNAVAILABLE);
    await many(CALLS);
    const held = [await liveBytes(far)];
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const reply of await many(CALLS)) expect(reply).toMatchObject(UNAVAILABLE);
      held.push(await liveBytes(far));
    }
    const grown = held.slice(1).map((bytes, round) => bytes - (held[round] ?? 0));
    prove(
      `F9 Redis ${how}`,
      `${4 * CALLS * ROUNDS} calls: all 503 with Retry-After; memory grew by ${grown.map((bytes) => Math.round(bytes / 1024)).join(', ')} kB in its rounds`,
    );
    expect(Math.min(...grown)).toBeLessThan(LEAK_BYTES);
    await proxy.heal();
    await untilReady(far);
    const first = await far.patient.tryToAsk(question);
    expect(first.status).toBe(201);
    expect(await far.patient.tryToAsk(question)).toMatchObject({
      body: { elicitationId: first.body.elicitationId },
    });
    expect(await far.patient.answer(asked, choose('left'))).toMatchObject({ status: 200 });
    expect(await countEndings(site.redis.url, asked)).toBe(1);
  },
);

it('F23 Redis is full: writes get 503 with Retry-After, reads continue, and writes work again once memory is free', async () => {
  const asked = await near.patient.ask();
  await redisCommand(site.redis.url, 'CONFIG', 'SET', 'maxmemory', '1mb');
  try {
    for (const pod of [far, near]) {
      expect(await pod.tryToAsk()).toMatchObject(UNAVAILABLE);
      expect(await pod.answer(asked, choose('left'))).toMatchObject(UNAVAILABLE);
      expect(await pod.patient.read(asked)).toMatchObject({ status: 200, body: { status: 'pending' } });
    }
  } finally {
    await redisCommand(site.redis.url, 'CONFIG', 'SET', 'maxmemory', '0');
  }
  expect(await near.patient.tryToAsk()).toMatchObject({ status: 201 });
  expect(await far.patient.answer(asked, choose('left'))).toMatchObject({ status: 200 });
  expect(await countEndings(site.redis.url, asked)).toBe(1);
});

it('F23 the scripts are flushed repeatedly during settles: no request is affected', async () => {
  const settles = sized(5_000, 60);
  const flushes = settles / 5;
  const load = createSettleLoad({
    fetch: pickFetch([far.url, near.url]),
    settles,
    askers: sized(50, 20),
    faults: Array.from({ length: flushes }, () => () => redisCommand(site.redis.url, 'SCRIPT', 'FLUSH')),
  });
  await load.run();
  const report = checkHistory(load.history.events);
  prove('F23 scripts flushed again and again during settles', `${flushes} flushes\n${formatReport(report)}`);
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(report.counts.waits).toBe(settles);
  // Not even a 503, except where a busy machine keeps Redis from replying in time.
  const isLate = (event: HistoryEvent) =>
    'startedAt' in event &&
    'httpStatus' in event &&
    event.httpStatus === 503 &&
    event.at - event.startedAt >= COMMAND_TIMEOUT_MS;
  const hasFailed = (event: HistoryEvent) =>
    'httpStatus' in event && (event.httpStatus === 0 || event.httpStatus >= 500) && !isLate(event);
  expect(load.history.events.filter(hasFailed)).toEqual([]);
});

it('F23 all data is flushed: waiting for, reading or answering an old question gets a clean 404, and new questions work', async () => {
  const watchful = await site.pod({ PARLEY_RECHECK_MS: '300' });
  const asked = await near.patient.ask();
  const waiting = watchful.wait(asked);
  await untilSubscribed(site.redis.url, [asked]);
  await redisCommand(site.redis.url, 'FLUSHALL');
  expect(await waiting).toMatchObject({ status: 404, code: 'not_found' });
  expect(await far.patient.read(asked)).toMatchObject({ status: 404 });
  expect(await near.patient.answer(asked, choose('left'))).toMatchObject({ status: 404 });
  const next = await far.patient.ask({ owner: asked.owner });
  expect(await near.patient.answer(next, choose('left'))).toMatchObject({ status: 200 });
});
