import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { bucketOf } from '@parley/core/domain/ids';
import { armedKey } from '@parley/shared/redis/client/keys';
import { timerPrefix } from '@parley/shared/redis/jobs/timers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChaosProxy } from '../harness/chaos/proxy.ts';
import { freePort, listenOnFreePort } from '../harness/free-port.ts';
import { createRoundRobin, type RoundRobin } from '../harness/http/round-robin.ts';
import { LOAD_ENV } from '../harness/load/load-env.ts';
import { prove } from '../harness/load/size.ts';
import { bundleEntry } from '../harness/processes/bundle.ts';
import { killWithParent } from '../harness/processes/child-guard.ts';
import { redisCommand } from '../harness/redis/redis-command.ts';
import { choose, createPodClient } from '../harness/site/pod-client.ts';
import { openReader } from '../harness/site/reader.ts';
import { clientsNamed, countEndings, readEvents, untilSubscribed } from '../harness/site/redis-monitor.ts';
import { openSite, type Site, type SitePod } from '../harness/site/site.ts';
import { waitUntil } from '../harness/wait-until.ts';

// A pod on a busy machine must not be mistaken for a frozen one.
const HEALTH_TIMEOUT_MS = 5_000;
const PATIENCE_MS = 15_000;
const GLANCE_MS = 5_000;

let site: Site;
/** The pod that outlives the others. Its sweep finds what they leave. */
let other: SitePod;

beforeAll(async () => {
  site = await openSite();
  other = await site.pod({ PARLEY_SWEEP_MS: '200' });
});
afterAll(() => site?.stop());

it('F18 the asking pod is killed while it waits: the question stays open, and the asker can wait on another pod', async () => {
  const asking = await site.pod();
  const asked = await asking.patient.ask();
  const left = await asking.patient.ask({ timeoutSeconds: 6 });
  const cutOff = [asking.wait(asked), asking.wait(left)];
  await untilSubscribed(site.redis.url, [asked, left]);
  asking.kill('SIGKILL');
  const [cut] = await Promise.all(cutOff);
  expect(cut?.status).toBe(0);
  const again = other.wait(asked);
  expect(await other.patient.read(asked)).toMatchObject({ status: 200, body: { status: 'pending' } });
  expect(await other.patient.answer(asked, choose('left'))).toMatchObject({ status: 200 });
  expect(await again).toMatchObject({
    status: 200,
    body: { status: 'accepted', content: { choice: 'left' } },
  });
  // The pod's own timer is gone with the pod.
  expect(await other.wait(left)).toMatchObject({ status: 200, body: { status: 'expired' } });
  expect([await countEndings(site.redis.url, asked), await countEndings(site.redis.url, left)]).toEqual([
    1, 1,
  ]);
});

it('the answering pod is killed right after its commit: the same answer through another pod gets 200', async () => {
  const proxy = await site.proxy();
  const answering = await site.pod({ REDIS_URL: proxy.url });
  const asked = await other.patient.ask();
  const waiting = other.wait(asked);
  await untilSubscribed(site.redis.url, [asked]);
  const mark = 'killed-after-the-commit';
  const cut = proxy.cutAfterNextRequest(mark);
  // The pod must not reconnect and send the commit again before it is killed.
  await proxy.refuse(true);
  const reply = answering.answer(asked, choose(mark));
  expect(await cut).toBe(true);
  answering.kill('SIGKILL');
  expect(await reply).toMatchObject({ status: 0 });
  expect(await waiting).toMatchObject({ body: { status: 'accepted', content: { choice: mark } } });
  expect(await other.patient.answer(asked, choose(mark))).toMatchObject({
    status: 200,
    body: { status: 'accepted' },
  });
  const late = await other.patient.answer(asked, choose('another'));
  expect(late).toMatchObject({ status: 409, body: { elicitation: { content: { choice: mark } } } });
  expect(await countEndings(site.redis.url, asked)).toBe(1);
});

it('the answering pod is killed right before its commit: the question stays open and is answered through another pod', async () => {
  const proxy = await site.proxy();
  const answering = await site.pod({ REDIS_URL: proxy.url });
  const asked = await other.patient.ask();
  const mark = 'killed-before-the-commit';
  proxy.beforeNextRequest(mark, () => {
    answering.kill('SIGKILL');
    proxy.reset();
  });
  expect(await answering.answer(asked, choose(mark))).toMatchObject({ status: 0 });
  expect(await other.patient.read(asked)).toMatchObject({ status: 200, body: { status: 'pending' } });
  expect(await other.patient.answer(asked, choose('left'))).toMatchObject({ status: 200 });
  expect(await readEvents(site.redis.url, asked)).toEqual(['elicitation-request', 'elicitation-resolved']);
});

it('F17 the pod dies between its commit and the job: the sweep of another pod adds the job, and expires the question', async () => {
  const proxy = await site.proxy();
  const asking = await site.pod({ REDIS_URL: proxy.url });
  await loseTimerConnection(proxy);
  const asked = await asking.patient.ask({ timeoutSeconds: 10 });
  asking.kill('SIGKILL');
  await asking.exited;
  const armed = String(await redisCommand(site.redis.url, 'GET', armedKey(bucketOf(asked.owner))));
  const job = `${timerPrefix(0)}:expiry:${bucketOf(asked.owner)}-${armed.split(' ')[0]}`;
  await waitUntil(async () => (await redisCommand(site.redis.url, 'EXISTS', job)) === 1, { what: 'the job' });
  expect(await other.wait(asked)).toMatchObject({ status: 200, body: { status: 'expired' } });
  expect(await countEndings(site.redis.url, asked)).toBe(1);
});

/** Cuts for good the connection that adds jobs; the pod's other connections through this proxy stay. */
async function loseTimerConnection(proxy: ChaosProxy): Promise<void> {
  const both = async () => (await clientsNamed(site.redis.url, 'parley-timers')).length === 2;
  await waitUntil(both, { what: 'that connection of both pods' });
  await proxy.refuse(true);
  for (const id of await clientsNamed(site.redis.url, 'parley-timers')) {
    await redisCommand(site.redis.url, 'CLIENT', 'KILL', 'ID', id);
  }
}

it('F19 a frozen pod behind a balancer with active checks gets no more calls, and gets calls again once it is resumed', async () => {
  const frozen = await site.pod();
  const balancer = await createRoundRobin({
    targets: [frozen, other].map(({ url }, index) => ({ name: `pod-${index}`, url })),
    healthIntervalMs: 200,
    healthTimeoutMs: HEALTH_TIMEOUT_MS,
  });
  try {
    await throughAFreeze(balancer, frozen);
  } finally {
    await balancer.close();
  }
});

async function throughAFreeze(balancer: RoundRobin, frozen: SitePod): Promise<void> {
  const client = createPodClient(balancer, PATIENCE_MS);
  const quickClient = createPodClient(balancer, GLANCE_MS);
  const asked = await other.patient.ask();
  const waiting = frozen.wait(asked);
  await untilSubscribed(site.redis.url, [asked]);
  frozen.freeze();
  const served = async () =>
    (await quickClient.read(asked)).status === 200 ? balancer.lastPod() : undefined;
  await waitUntil(
    async () => [await served(), await served(), await served()].every((pod) => pod === 'pod-1'),
    {
      what: 'the balancer to take the frozen pod out',
      timeoutMs: 60_000,
    },
  );
  for (let index = 0; index < 20; index += 1) {
    const more = await client.patient.ask();
    expect(await client.patient.answer(more, choose('left'))).toMatchObject({ status: 200 });
    expect(balancer.lastPod()).not.toBe('pod-0');
  }
  // A caller that waits on the frozen pod loses nothing by repeating its request.
  expect(await client.patient.answer(asked, choose('right'))).toMatchObject({ status: 200 });
  const accepted = { status: 200, body: { status: 'accepted', content: { choice: 'right' } } };
  expect(await client.wait(asked)).toMatchObject(accepted);
  frozen.thaw();
  expect(await waiting).toMatchObject(accepted);
  await waitUntil(async () => (await served()) === 'pod-0', {
    what: 'the balancer to take the pod back',
    timeoutMs: 60_000,
  });
}

it('a pod and a worker start while each reply of Redis takes its time: no command of their rounds fails', async () => {
  const proxy = await site.proxy();
  proxy.delay(30);
  // Rounds begin within 100 ms, and the first connection takes several replies.
  const rounds = { PARLEY_SWEEP_MS: '100', PARLEY_TAKE_OVER_MS: '100', PARLEY_CANARY_MS: '100' };
  for (const start of [site.pod, site.worker]) {
    const port = await freePort();
    const started = await start({ ...rounds, REDIS_URL: proxy.url, PARLEY_METRICS_PORT: `${port}` });
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain('parley_');
    expect(metrics).not.toMatch(/^parley_redis_command_errors_total [1-9]/m);
    expect(started.lines.filter((line) => line.includes('"err"'))).toEqual([]);
  }
});

it.each(['api', 'worker'])(
  'SIGTERM ends the %s that waits for a Redis which says nothing',
  async (service) => {
    const silent = createServer((socket) => void socket.on('error', () => undefined));
    const port = await listenOnFreePort(silent);
    const program = await bundleEntry(`services/${service}/src/main.ts`);
    const env = { PATH: process.env.PATH, ...LOAD_ENV, REDIS_URL: `redis://127.0.0.1:${port}`, PORT: '0' };
    const child = spawn(process.execPath, [program], { env, stdio: 'ignore' });
    killWithParent(child);
    silent.once('connection', () => child.kill('SIGTERM'));
    expect(await once(child, 'exit')).toEqual([0, null]);
    silent.close();
  },
);

it.each(['killed', 'frozen'] as const)(
  'F22 SIGTERM with open waits and streams while Redis is %s: the pod exits by itself within its grace period',
  async (fault) => {
    const away = await openSite();
    try {
      const pod = await away.pod({ PARLEY_DRAIN_MS: '6000' });
      const questions = await Promise.all(Array.from({ length: 10 }, () => pod.ask()));
      const waits = questions.map((asked) => pod.wait(asked));
      await untilSubscribed(away.redis.url, questions);
      const readers = await Promise.all(
        questions
          .slice(0, 5)
          .map(({ owner, streamRequestId }) => openReader({ url: pod.url, owner, streamRequestId })),
      );
      if (fault === 'killed') await away.redis.kill9();
      else away.redis.pause();
      const { code, signal } = await pod.stop(30_000);
      // The pod exited by itself; only this test would have sent SIGKILL.
      expect(signal).toBeNull();
      prove(
        `F22 SIGTERM while Redis is ${fault}`,
        `10 waits and 5 streams open: exited by itself with code ${code}`,
      );
      await Promise.all(readers.map((reader) => reader.ended));
      for (const { status } of await Promise.all(waits)) expect([0, 200, 503]).toContain(status);
    } finally {
      await away.stop();
    }
  },
);
