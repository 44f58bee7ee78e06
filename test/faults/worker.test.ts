import { setTimeout as sleep } from 'node:timers/promises';
import { canaryKey } from '@parley/shared/redis/client/keys';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { checkHistory } from '../harness/history/check-history.ts';
import { formatReport } from '../harness/history/report.ts';
import { pickFetch } from '../harness/http/pick-fetch.ts';
import { createLoad } from '../harness/load/run-load.ts';
import { prove } from '../harness/load/size.ts';
import { testNotRun } from '../harness/not-run.ts';
import { paced } from '../harness/pace.ts';
import { fakeTime } from '../harness/processes/faketime.ts';
import { type ManagedProcess, startProcess } from '../harness/processes/processes.ts';
import { sized } from '../harness/proof-size.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import type { Asked, Reply } from '../harness/site/pod-client.ts';
import { countEndings, onCommand, untilQueued } from '../harness/site/redis-monitor.ts';
import { openSiteInMemory, type Site, type SitePod, untilReady } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

// How a worker treats single jobs while it is killed, frozen or ahead of its time is tested in
// test/integration/worker*.test.ts. These tests run pods and workers together: whatever happens to a worker, each
// question ends once, not before its deadline, and every waiter is notified.

const HOUR_SECONDS = 3_600;
const SWEEPING = { PARLEY_SWEEP_MS: '300' };
/** Settings under which only the queue expires questions. */
const NO_TIMERS = { PARLEY_LIMIT_LOCAL_TIMERS: '0' };

let site: Site;
const started = new Map<string, Promise<SitePod>>();
let worker: ManagedProcess | undefined;

beforeAll(async () => {
  // These tests kill Redis right after writes; its durability is not what they check.
  site = await openSiteInMemory({ args: ['--appendfsync', 'always'] });
});
afterEach(async () => {
  for (const pod of started.values()) (await pod).thaw();
});
afterAll(() => site?.stop());

/** A pod for all tests that want one with these settings. */
function podWith(env: Readonly<Record<string, string>>): Promise<SitePod> {
  const name = JSON.stringify(env);
  const pod = started.get(name) ?? site.pod(env);
  started.set(name, pod);
  return pod;
}

/** The only worker. */
async function onlyWorker(): Promise<ManagedProcess> {
  worker ??= await site.worker();
  return worker;
}

/** Whichever the test before left. */
async function endWorker(): Promise<void> {
  await worker?.stop();
  worker = undefined;
}

function askMany(pod: SitePod, count: number, timeoutSeconds: number): Promise<Asked[]> {
  return Promise.all(Array.from({ length: count }, () => pod.patient.ask({ timeoutSeconds })));
}

/** Expects that waiting on `pod` returns expired for each question, and that each expired once and not early. */
async function allExpire(pod: SitePod, questions: readonly Asked[]): Promise<void> {
  await Promise.all(questions.map((asked) => expiresOnce(pod, asked)));
}

async function expiresOnce(pod: SitePod, asked: Asked): Promise<void> {
  await hasExpiredOnce(asked, await waitOn(pod, asked));
}

/** Waits on a pod. A pod without Redis replies 503, and the call is repeated. */
async function waitOn(pod: SitePod, asked: Asked): Promise<Reply> {
  let reply = await pod.wait(asked);
  for (let attempt = 0; reply.status === 503 && attempt < 100; attempt += 1) {
    await sleep(200);
    reply = await pod.wait(asked);
  }
  return reply;
}

async function hasExpiredOnce(asked: Asked, reply: Reply): Promise<void> {
  expect(reply).toMatchObject({ status: 200, body: { status: 'expired' } });
  const { settledAt, expiresAt } = reply.body as Record<string, string>;
  expect(Date.parse(`${settledAt}`)).toBeGreaterThanOrEqual(Date.parse(`${expiresAt}`));
  expect(await countEndings(site.redis.url, asked)).toBe(1);
}

it('F10 Redis is down across the deadlines: all questions expire once it is back', async () => {
  const [pod] = await Promise.all([podWith({}), onlyWorker()]);
  const asked = await askMany(pod, 15, 2);
  const waiting = Promise.all(asked.map(async (each) => ({ each, reply: await waitOn(pod, each) })));
  await site.redis.kill9();
  await sleep(2_500);
  await site.redis.restart();
  for (const { each, reply } of await waiting) await hasExpiredOnce(each, reply);
});

it('F11 Redis restarts before the deadlines: the jobs still run', async () => {
  const [pod] = await Promise.all([podWith(NO_TIMERS), onlyWorker()]);
  await untilReady(pod);
  // They are looked for before they are due.
  const asked = await askMany(pod, 15, 10);
  await untilQueued(site.redis.url, asked);
  await site.redis.kill9();
  await site.redis.restart();
  await untilReady(pod);
  await allExpire(pod, asked);
});

it('F12 the only worker is frozen when the deadlines pass: the sweep expires the questions, and the worker finds them ended', async () => {
  const [pod, frozen] = await Promise.all([podWith(NO_TIMERS), onlyWorker(), podWith(SWEEPING)]);
  frozen.freeze();
  const asked = await askMany(pod, 10, 5);
  const jobs = await untilQueued(site.redis.url, asked);
  await allExpire(pod, asked);
  frozen.thaw();
  await waitUntil(async () => (await redisCommand(site.redis.url, 'EXISTS', ...jobs)) === 0, {
    what: 'the jobs to be done',
    timeoutMs: 60_000,
  });
  for (const each of asked) expect(await countEndings(site.redis.url, each)).toBe(1);
});

it('F13 the worker is killed while it runs due jobs: all questions expire, each once', async () => {
  const [pod, victim] = await Promise.all([podWith(NO_TIMERS), onlyWorker(), podWith(SWEEPING)]);
  const stopLooking = await onCommand(site.redis.url, 'elicitation-resolved', () => victim.kill('SIGKILL'));
  const asked = await askMany(pod, 30, 2);
  await allExpire(pod, asked);
  stopLooking();
  await victim.exited;
  await endWorker();
});

it('F16 the connections of the only worker are half-open: the sweep expires the questions, and the worker recovers', async () => {
  await endWorker();
  const proxy = await site.proxy();
  worker = await site.worker({ REDIS_URL: proxy.url, PARLEY_CANARY_MS: '500' });
  const [pod] = await Promise.all([podWith(NO_TIMERS), podWith(SWEEPING)]);
  proxy.blackhole({ existing: true, fresh: true });
  await allExpire(pod, await askMany(pod, 10, 1));
  await proxy.heal();
  await redisCommand(site.redis.url, 'DEL', canaryKey());
  await waitUntil(async () => (await redisCommand(site.redis.url, 'EXISTS', canaryKey())) === 1, {
    what: 'the worker to run jobs again',
    timeoutMs: 90_000,
  });
});

it('F14 a job that crashes every worker is abandoned, and the sweep expires its question', async () => {
  await endWorker();
  const [pod, sweeper] = await Promise.all([podWith(NO_TIMERS), podWith(SWEEPING)]);
  sweeper.freeze();
  // Jobs of earlier tests would occupy the slow workers.
  await redisCommand(site.redis.url, 'FLUSHALL');
  const start = () =>
    startProcess({
      name: 'slow worker',
      entry: 'test/integration/worker/slow.ts',
      env: { REDIS_URL: site.redis.url, TEST_LOCK_MS: '500', TEST_HOLD_MS: '600000' },
      readyWhen: (line) => line.ready === true,
    });
  const victims = await Promise.all(Array.from({ length: 5 }, start));
  const asked = await pod.ask({ timeoutSeconds: 1 });
  const [job = ''] = await untilQueued(site.redis.url, [asked]);
  const taken = ({ lines }: ManagedProcess) => lines.includes(JSON.stringify({ taken: asked.id }));
  const givenUp = async () => (await redisCommand(site.redis.url, 'EXISTS', job)) === 0;
  let died = 0;
  for (const alive = new Set(victims); !(await givenUp()); ) {
    const next = await waitUntil(async () => (await givenUp()) || [...alive].find(taken), {
      what: 'the job to be taken or abandoned',
      timeoutMs: 60_000,
    });
    if (next === true) break;
    next.kill('SIGKILL');
    alive.delete(next);
    died += 1;
  }
  expect(await pod.patient.read(asked)).toMatchObject({ body: { status: 'pending' } });
  sweeper.thaw();
  await expiresOnce(pod, asked);
  prove('F14 a job that crashes every worker', `given up after ${died} workers, expired by the sweep`);
  await Promise.all(victims.map((victim) => victim.stop(0)));
});

it('F15 the clock of the only worker is an hour behind: its sweep expires the questions instead of its timers', async (context) => {
  const behind = await fakeTime(-HOUR_SECONDS);
  if (behind === undefined) return testNotRun(context, 'there is no faketime');
  await endWorker();
  const [pod, sweeper] = await Promise.all([podWith(NO_TIMERS), podWith(SWEEPING)]);
  sweeper.freeze();
  worker = await site.worker({ ...SWEEPING, ...behind.env }, { wrap: behind.wrap });
  await allExpire(pod, await askMany(pod, 10, 1));
});

it('F15 clocks of pods and workers are an hour ahead or behind: nothing is early, late or lost', async (context) => {
  const [ahead, behind] = [await fakeTime(HOUR_SECONDS), await fakeTime(-HOUR_SECONDS)];
  if (ahead === undefined || behind === undefined) return testNotRun(context, 'there is no faketime');
  const env = { PARLEY_SWEEP_MS: '1000' };
  await endWorker();
  const [right, fast, slow] = await Promise.all([
    podWith(SWEEPING),
    site.pod({ ...env, ...ahead.env }, { wrap: ahead.wrap }),
    site.pod({ ...env, ...behind.env }, { wrap: behind.wrap }),
    site.worker({ ...env, ...ahead.env }, { wrap: ahead.wrap }),
    site.worker({ ...env, ...behind.env }, { wrap: behind.wrap }),
  ]);
  const elicitations = sized(5_000, 60);
  const load = createLoad({
    fetch: pickFetch([right, fast, slow].map(({ url }) => url)),
    elicitations,
    askers: sized(50, 25),
  });
  await load.run();
  const report = checkHistory(load.history.events, { graceMs: paced(6_000) });
  prove('F15 pods and workers an hour ahead and an hour behind', formatReport(report));
  expect(report.violations, formatReport(report)).toEqual([]);
  expect(report.counts.acked).toBe(elicitations);
  expect(report.counts.finals.expired).toBeGreaterThan(0);
});
