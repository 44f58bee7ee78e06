import { bucketOf } from '@parley/core/domain/ids';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../harness/free-port.ts';
import { type ManagedProcess, startWorker } from '../../harness/processes/processes.ts';
import { startProcess } from '../../harness/processes/start-process.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { type RedisServer, startRedis } from '../../harness/redis/redis-server.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import {
  allExpire,
  jobIdOf,
  lookInto,
  nextBeat,
  type Question,
  question,
  single,
  startTestPod,
  startTestWorker,
  type TestPod,
} from '../../harness/worker/setup.ts';

// No sweep: whatever fires, a job fired.
const ENV = { PARLEY_SWEEP_MS: '600000', PARLEY_CANARY_MS: '200', PARLEY_DRAIN_MS: '4000' };
const LOCK_MS = 1_000;

let redis: RedisServer;
/** Its deadlines become jobs, and nothing else. */
let pod: TestPod;

beforeAll(async () => {
  // It is killed right after writes that are not to be lost.
  redis = await startRedis({ args: ['--appendfsync', 'always'] });
  pod = await startTestPod({ location: single(redis.url), timers: 'queue' });
});
afterAll(async () => {
  await pod.close();
  await redis.stop();
});

function ask(count: number, timeoutSeconds: number): Promise<Question[]> {
  return Promise.all(Array.from({ length: count }, () => question(pod, { timeoutSeconds })));
}

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}

describe('a worker', () => {
  let worker: ManagedProcess;
  let url: string;

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    worker = await startWorker({ ...ENV, REDIS_URL: redis.url, PARLEY_METRICS_PORT: `${port}` });
  });
  afterAll(() => worker.stop());

  it('reports readiness, liveness and metrics', async () => {
    expect(worker.ready).toEqual({ ready: true, pod: expect.any(String) });
    expect(await statusOf(`${url}/healthz`)).toBe(200);
    const ready = await fetch(`${url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, expect.objectContaining({ status: 'ready' })]);
    expect(await statusOf(`${url}/other`)).toBe(404);
    const metric = async (name: string) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
    };
    await waitUntil(async () => (await metric('parley_timer_canary_age_seconds')) >= 0, {
      what: 'the age of the canary',
    });
    await waitUntil(async () => (await metric('parley_elicitation_pending')) === 0, {
      what: 'the number pending',
    });
    expect(await metric('parley_elicitation_overdue_seconds')).toBe(0);
    expect(await metric('parley_outbox_lag_seconds')).toBe(0);
    expect(await metric('parley_index_repairs_total')).toBe(0);
    expect(await metric('parley_cleanup_removed_total')).toBe(0);
    expect(await metric('parley_sweep_expired_total')).toBe(0);
  });

  it('fires deadlines although Redis was killed, and its canary continues', async () => {
    // An ask does not wait for its job; one that was never added would be left to the sweep.
    worker.freeze();
    const asked = await ask(5, 1);
    const { queue, close } = await lookInto(single(redis.url));
    const armed = new Set(asked.map(({ owner }) => bucketOf(owner))).size;
    await waitUntil(async () => (await queue.getDelayedCount()) >= armed, { what: 'the jobs' });
    await close();
    await redis.kill9();
    worker.thaw();
    await waitUntil(async () => (await statusOf(`${url}/readyz`)) === 503, { what: 'not ready' });
    expect(await statusOf(`${url}/healthz`)).toBe(200);
    await redis.restart();
    await allExpire(asked);
    await nextBeat(pod, redis.port);
    await waitUntil(async () => (await statusOf(`${url}/readyz`)) === 200, { what: 'ready again' });
  });

  it('restores its schedules after Redis lost all data, and processes jobs', async () => {
    await redisCommand(redis.port, 'FLUSHALL');
    await nextBeat(pod, redis.port);
    await allExpire(await ask(1, 1));
  });

  it('logs its actions without the content of questions', () => {
    const lines = worker.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const expired = lines.filter(({ msg }) => msg === 'elicitation expired');
    // A commit whose reply was lost with Redis is not logged, and a wait may expire a question that is overdue.
    expect(expired.length).toBeGreaterThan(0);
    expect(expired.length).toBeLessThanOrEqual(11);
    expect(new Set(expired.map(({ elicitationId }) => elicitationId)).size).toBe(expired.length);
    expect(JSON.stringify(lines)).not.toContain('Which colour?');
    expect(worker.stderr).toEqual([]);
  });

  it('exits in time although Redis does not answer', async () => {
    redis.pause();
    const exit = await worker.stop(60_000);
    redis.resume();
    // Of itself; the signal would be SIGKILL.
    expect(exit.signal).toBeNull();
  });
});

it('waits for Redis at its start, and exits although Redis is gone', async () => {
  const [port, opsPort] = [await freePort(), await freePort()];
  const env = { ...ENV, REDIS_URL: `redis://127.0.0.1:${port}`, PARLEY_METRICS_PORT: `${opsPort}` };
  // As `npm run worker` starts it; the other tests start workers from a bundle.
  const starting = startWorker(env, { runs: 'sources' });
  await waitUntil(async () => (await statusOf(`http://127.0.0.1:${opsPort}/readyz`)) === 503, {
    what: 'the worker to be up and not ready',
    timeoutMs: 60_000,
  });
  const late = await startRedis({ port });
  const worker = await starting;
  await late.kill9();
  expect(await worker.stop(60_000)).toEqual({ code: 0, signal: null });
  await late.stop();
});

it('refuses to start without Redis', async () => {
  await expect(startWorker({})).rejects.toThrow(/ended with 1 .*needs Redis/s);
});

describe('a job that its worker does not finish', () => {
  const env = { REDIS_URL: '', TEST_LOCK_MS: `${LOCK_MS}`, TEST_HOLD_MS: '5000' };
  const start = (more: Record<string, string> = {}) =>
    startProcess({
      name: 'slow worker',
      entry: 'test/integration/worker/slow.ts',
      env: { ...env, REDIS_URL: redis.url, ...more },
      readyWhen: (line) => line.ready === true,
    });
  const said = (worker: ManagedProcess, line: object) => worker.lines.includes(JSON.stringify(line));
  const rescue = () =>
    startTestWorker(pod, single(redis.url), { lockMs: LOCK_MS, stalledCheckMs: LOCK_MS / 2 });

  it('is done by another when its worker was killed between expiring and arming the next deadline', async () => {
    const slow = await start({ TEST_HOLD_AT: 'arm', TEST_HOLD_MS: '600000' });
    const first = await question(pod, { timeoutSeconds: 1 });
    const next = await question(pod, { timeoutSeconds: 600 }, pod, first.owner);
    await waitUntil(() => said(slow, { arming: bucketOf(first.owner) }), { what: 'the first to be expired' });
    expect([await first.status(), await next.status()]).toEqual(['expired', 'pending']);
    slow.kill('SIGKILL');
    await slow.exited;
    const { queue, close } = await lookInto(single(redis.url));
    const other = await rescue();
    await waitUntil(() => queue.getJob(jobIdOf(next)), { what: 'the job of the next deadline' });
    await allExpire([first]);
    await other.close();
    await close();
  });

  it('is done once when its worker was frozen past the lock', async () => {
    const slow = await start();
    const asked = await question(pod, { timeoutSeconds: 1 });
    await waitUntil(() => said(slow, { taken: asked.id }), { what: 'the job to be taken' });
    slow.freeze();
    const other = await rescue();
    await allExpire([asked]);
    await other.close();
    slow.thaw();
    await waitUntil(() => said(slow, { done: asked.id }), { what: 'the frozen one to find it ended' });
    expect(await asked.endings()).toBe(1);
    // It is none the worse for it.
    await allExpire([await question(pod, { timeoutSeconds: 1 })]);
    await slow.stop(0);
  });
});
