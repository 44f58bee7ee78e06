import { randomUUID } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { createParser } from 'eventsource-parser';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkHistory } from '../harness/history/check-history.ts';
import { formatReport } from '../harness/history/report.ts';
import { pickFetch } from '../harness/http/pick-fetch.ts';
import { createSettleLoad } from '../harness/load/settle-load.ts';
import { prove, SIZE } from '../harness/load/size.ts';
import { liveBytes, REPORTS_MEMORY } from '../harness/processes/resources.ts';
import { sized } from '../harness/proof-size.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { choose, newOwner, tokenOf } from '../harness/site/pod-client.ts';
import { findFaults, openReader, type ReadOptions } from '../harness/site/reader.ts';
import { countStreams } from '../harness/site/redis-monitor.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

const PODS = sized(3, 2);
const SLOW_READERS = 40;
const LONG_QUESTIONS = 130;
const LONG_MESSAGE = 'x'.repeat(39_000);
/** Less than half of the memory that unbounded buffers for all of them would take. */
const HEAP_MB = 192;
const READ_ON = 5;

let site: Site;
/** Those that no test has killed. */
const pods: SitePod[] = [];

beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.stop());

async function startPods(count: number): Promise<SitePod[]> {
  const missing = Array.from({ length: Math.max(0, count - pods.length) }, () =>
    // The ends are read from the list, which must hold all of them.
    site.pod({ PARLEY_LIMIT_USER_HISTORY: '1000000', PARLEY_LIMIT_MESSAGE_CHARACTERS: '40000' }),
  );
  pods.push(...(await Promise.all(missing)));
  return pods.slice(0, count);
}

async function twoPods(): Promise<[SitePod, SitePod]> {
  const [first, second] = await startPods(2);
  if (first === undefined || second === undefined) throw new Error('There are two.');
  return [first, second];
}

/** Creates a person's stream with `questions` questions on it, all answered. */
async function fill(pod: SitePod, questions: number, message = 'Which one?') {
  const owner = newOwner();
  const stream = { owner, streamRequestId: `turn-${owner.userId}` };
  await add(pod, stream, questions, message);
  return stream;
}

/** Adds questions to the stream. A pod on a busy machine may refuse for a moment; then the call is repeated. */
async function add(
  pod: SitePod,
  stream: Pick<ReadOptions, 'owner' | 'streamRequestId'>,
  questions: number,
  message = 'Which one?',
): Promise<void> {
  for (let index = 0; index < questions; index += 1) {
    const question = { ...stream, message, idempotencyKey: randomUUID() };
    const asked = await waitUntil(() => pod.ask(question), { what: 'a question to be taken' });
    const answer = { ...choose('left'), responseId: randomUUID() };
    const { status } = await waitUntil(
      async () => {
        const reply = await pod.answer(asked, answer);
        return reply.status !== 503 && reply;
      },
      { what: 'an answer to be taken' },
    );
    expect(status).toBe(200);
  }
}

it('F20 the pod of a stream is killed: the reader resumes from Last-Event-ID on another pod, without a gap or a repeat', async () => {
  const [first, second] = await twoPods();
  const stream = await fill(second, 5);
  const before = await openReader({ url: first.url, ...stream });
  await waitUntil(() => before.events.length === 10, { what: 'ten events' });
  await add(second, stream, 3);
  first.kill('SIGKILL');
  pods.shift();
  await before.ended;
  const lastEventId = before.events.at(-1)?.id;
  await add(second, stream, 3);
  const after = await openReader({ url: second.url, ...stream, lastEventId });
  await waitUntil(() => before.events.length + after.events.length >= 22, { what: 'all twenty-two events' });
  expect(findFaults([...before.events, ...after.events])).toEqual([]);
  await after.close();
  // Resuming works from every position.
  const all = [...before.events, ...after.events];
  for (const [index, { id }] of all.entries()) {
    const rest = await openReader({ url: second.url, ...stream, lastEventId: id });
    await waitUntil(() => rest.events.length === all.length - 1 - index, { what: 'the rest of the events' });
    expect(rest.events).toEqual(all.slice(index + 1));
    await rest.close();
  }
});

it('F20 pods are killed and replaced during settles: readers miss no event and receive none twice', async () => {
  const settles = sized(20_000, 60);
  const kills = sized(12, 1);
  const urls = (await startPods(PODS)).map(({ url }) => url);
  const load = createSettleLoad({
    fetch: pickFetch(urls),
    settles,
    askers: sized(40, 20),
    faults: Array.from({ length: kills }, () => async () => {
      pods.shift()?.kill('SIGKILL');
      await startPods(PODS);
      // The dead pod's place is taken by the new one; requests still came to it in the meantime.
      urls.splice(0, urls.length, ...pods.map(({ url }) => url));
    }),
  });
  await load.run();
  const report = checkHistory(load.history.events);
  prove(`F20 ${kills} pods killed and replaced during settles`, formatReport(report));
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(load.settled()).toBe(settles);
});

it('after a feed is lost, connected readers and readers that resume on another pod get a clear reset', async () => {
  const [first, second] = await twoPods();
  const stream = await fill(second, 3);
  const stayed = await openReader({ url: first.url, ...stream });
  await waitUntil(() => stayed.events.length === 6, { what: 'six events' });
  const lastEventId = stayed.events.at(-1)?.id;
  await redisCommand(site.redis.url, 'FLUSHALL');
  await add(second, stream, 1);
  const back = await openReader({ url: second.url, ...stream, lastEventId });
  const resetEvents = ['stream-reset', 'elicitation-request', 'elicitation-resolved'];
  for (const [reader, seen] of [
    [stayed, 6],
    [back, 0],
  ] as const) {
    await waitUntil(() => reader.events.length === seen + 3, { what: 'the new feed' });
    expect(reader.events.slice(seen).map(({ name }) => name)).toEqual(resetEvents);
    expect(findFaults(reader.events, seen === 0 ? lastEventId : undefined)).toEqual([]);
    await reader.close();
  }
});

/** Opens a stream without reading from it. */
async function openUnread({ url, owner, streamRequestId }: ReadOptions): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${await tokenOf(owner)}` };
  return new Promise((resolve, reject) => {
    const request = get(`${url}/v1/streams/${streamRequestId}/events`, { agent: false, headers }, resolve);
    request.on('error', reject);
  });
}

/** Reads until `wanted` events came or the connection ended; returns the ids and which of the two happened. */
async function readOn(unread: IncomingMessage, wanted: number): Promise<{ ids: string[]; cut: boolean }> {
  const ids: string[] = [];
  const parser = createParser({ onEvent: ({ id }) => void (id !== undefined && ids.push(id)) });
  try {
    for await (const chunk of unread.setEncoding('utf8')) {
      parser.feed(String(chunk));
      if (ids.length >= wanted) return { ids, cut: false };
    }
  } catch {
    // The connection was cut in the middle of an event.
  }
  return { ids, cut: true };
}

it(`F21 ${SLOW_READERS} readers do not read while 10 MB of events come: memory stays bounded, and other readers are served`, async () => {
  const small = { nodeArgs: [`--max-old-space-size=${HEAP_MB}`, ...REPORTS_MEMORY] };
  // The budget of bytes would pause the streams: all readers are one user's.
  const env = { PARLEY_LIMIT_USER_READ_BYTES: '10000000000' };
  const [pod, [other]] = await Promise.all([site.pod(env, small), twoPods()]);
  const stream = await fill(other, 4, LONG_MESSAGE);
  const events = 2 * (4 + LONG_QUESTIONS);
  const reader = await openReader({ url: pod.url, ...stream });
  await waitUntil(() => reader.events.length === 8, { what: 'the first events' });
  const unread = await Promise.all(
    Array.from({ length: SLOW_READERS }, () => openUnread({ url: pod.url, ...stream })),
  );
  const before = await liveBytes(pod);
  await Promise.all(Array.from({ length: 10 }, () => add(other, stream, LONG_QUESTIONS / 10, LONG_MESSAGE)));
  await waitUntil(() => reader.events.length === events, { what: 'all events', timeoutMs: 120_000 });
  expect(findFaults(reader.events)).toEqual([]);
  const grown = (await liveBytes(pod)) - before;
  const all = reader.events.map(({ id }) => id);
  let cutOff = 0;
  for (const each of unread.slice(0, READ_ON)) {
    const { ids, cut } = await readOn(each, events);
    expect(ids).toEqual(cut ? all.slice(0, ids.length) : all);
    if (cut) cutOff += 1;
    each.destroy();
  }
  // A reader that never reads again is cut off eventually; that takes half a minute.
  if (SIZE.full) {
    await waitUntil(async () => (await countStreams(site.redis.url, stream.owner)) === 1, {
      what: 'the pod to cut the last slow reader off',
      timeoutMs: 180_000,
    });
  }
  prove(
    'F21 readers that do not read',
    `${SLOW_READERS} of them, ${events} events of 40 kB each: memory grew by ${Math.round(grown / 1024 / 1024)} MB with a heap of ${HEAP_MB} MB; of ${READ_ON} that read on later ${READ_ON - cutOff} got all, ${cutOff} had been cut off`,
  );
  expect(await pod.tryToAsk()).toMatchObject({ status: 201 });
  for (const each of unread) each.destroy();
  await reader.close();
});
