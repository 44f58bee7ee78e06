import { readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { checkHistory } from '../harness/history/check-history.ts';
import { formatReport } from '../harness/history/report.ts';
import { pickFetch } from '../harness/http/pick-fetch.ts';
import { createSettleLoad } from '../harness/load/settle-load.ts';
import { prove } from '../harness/load/size.ts';
import { sized } from '../harness/proof-size.ts';
import { type Asked, choose } from '../harness/site/pod-client.ts';
import { openReader } from '../harness/site/reader.ts';
import { untilSubscribed } from '../harness/site/redis-monitor.ts';
import { openSiteInMemory, type Site, type SitePod, untilReady } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

const SETTLES = sized(30_000, 80);
const KILLS = sized(12, 2);

let site: Site;

beforeAll(async () => {
  site = await openSiteInMemory();
});
afterEach(() => site.clear());
afterAll(() => site?.stop());

it(`F5 Redis (AOF, fsync every second) is killed and restarted ${KILLS} times during settles: every acknowledged answer is kept`, async () => {
  const env = { PARLEY_LIMIT_USER_HISTORY: '1000000' };
  const pods = await Promise.all(Array.from({ length: sized(3, 2) }, () => site.pod(env)));
  const load = createSettleLoad({
    fetch: pickFetch(pods.map(({ url }) => url)),
    settles: SETTLES,
    askers: sized(50, 20),
    faults: Array.from({ length: KILLS }, () => async () => {
      await site.redis.kill9();
      await site.redis.restart();
    }),
  });
  await load.run();
  const report = checkHistory(load.history.events);
  prove(`F5 Redis killed and restarted ${KILLS} times during settles`, formatReport(report));
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(load.settled()).toBe(SETTLES);
});

it('F6 the tail of the AOF is cut off: only writes after the cut are lost, no caller hangs, and lost questions get a clean 404', async () => {
  // Waiters poll from time to time: no wake and no resync reports a question that is lost.
  const pod = await site.pod({ PARLEY_RECHECK_MS: '500' });
  const before = await askSome(pod, 40);
  for (const asked of before)
    expect(await pod.patient.answer(asked, choose('kept'))).toMatchObject({ status: 200 });
  const kept = await sizeOfAof();
  const behind = await askSome(pod, 100);
  const [answered, open] = [behind.slice(0, 50), behind.slice(50)];
  const waits = open.map((asked) => pod.wait(asked));
  await untilSubscribed(site.redis.url, open);
  const readers = await Promise.all(
    behind.map(({ owner, streamRequestId }) => openReader({ url: pod.url, owner, streamRequestId })),
  );
  for (const asked of answered)
    expect(await pod.patient.answer(asked, choose('lost'))).toMatchObject({ status: 200 });

  await waitUntil(
    () => readers.every(({ events }, index) => events.length === (index < answered.length ? 2 : 1)),
    {
      what: 'the readers to receive all events',
    },
  );
  await site.redis.kill9();
  // The cut falls within a command of the asks, which come before the answers and take less than half of the space.
  const cut = kept + Math.round(((await sizeOfAof()) - kept) / 3) + 7;
  await truncate(await pathOfAof(), cut);
  await site.redis.restart();
  await untilReady(pod);

  for (const asked of before)
    expect(await pod.patient.read(asked)).toMatchObject({ status: 200, body: { status: 'accepted' } });
  const lost = { questions: 0, answers: 0 };
  for (const [index, asked] of behind.entries()) {
    const { status, body } = await pod.patient.read(asked);
    const reader = readers[index];
    if (status === 404) {
      lost.questions += 1;
      await reader?.ended;
    } else if (index < answered.length && body.status === 'pending') {
      lost.answers += 1;
      await waitUntil(() => reader?.events.at(-2)?.name === 'stream-reset', {
        what: 'the reader to be reset',
      });
    }
    const again = await pod.patient.answer(asked, choose('lost'));
    // Sending the same answer again is always correct, whether or not it was lost.
    expect(again).toMatchObject(status === 404 ? { status: 404, code: 'not_found' } : { status: 200 });
  }
  const ends = (await Promise.all(waits)).map(({ status, body }) => `${status} ${body.status}`);
  expect([...new Set(ends)].every((end) => ['200 accepted', '404 404'].includes(end))).toBe(true);
  await Promise.all(readers.map((reader) => reader.close()));
  const inVain = ends.filter((end) => end === '404 404').length;
  prove(
    'F6 the tail of the AOF is cut off',
    `before the cut: 40 answers, none lost\nbehind it: ${lost.questions} of 100 questions lost, ${lost.answers} of 50 answers lost and given again\n${open.length} waiters: ${ends.length - inVain} got the answer, ${inVain} a 404`,
  );
  expect(lost.questions).toBeGreaterThan(0);
});

function askSome(pod: SitePod, count: number): Promise<Asked[]> {
  return Promise.all(Array.from({ length: count }, () => pod.patient.ask()));
}

async function pathOfAof(): Promise<string> {
  const folder = join(site.redis.dir, 'appendonlydir');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.incr.aof'));
  const [newest] = names.sort((a, b) => numberOf(b) - numberOf(a));
  if (newest === undefined) throw new Error(`there is no AOF in ${folder}`);
  return join(folder, newest);
}

async function sizeOfAof(): Promise<number> {
  return (await stat(await pathOfAof())).size;
}

function numberOf(name: string): number {
  return Number(/\.(\d+)\.incr\.aof$/.exec(name)?.[1]);
}
