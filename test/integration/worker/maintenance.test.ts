import { randomUUID } from 'node:crypto';
import { bucketOf } from '@parley/core/domain/ids';
import { inTurn } from '@parley/shared/records/in-turn';
import { canaryKey, deadlinesKey, podKey, podsKey } from '@parley/shared/redis/client/keys';
import { beforeEach, expect, it } from 'vitest';
import type { MaintenanceDeps } from '../../../services/worker/src/maintenance.ts';
import { redisCommand } from '../../harness/redis/redis-command.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { maintain } from '../../harness/worker/maintain.ts';
import { redisOfFile } from '../../harness/worker/redis-of-file.ts';
import { nextBeat, question, type TestPod } from '../../harness/worker/setup.ts';

const site = redisOfFile();
let pod: TestPod;
let faults: unknown[];
beforeEach(async () => {
  faults = [];
  pod = await site.openPod();
});
const beat = () => nextBeat(pod, site.port);

async function keep(more: Partial<MaintenanceDeps> = {}) {
  const onError = (error: unknown) => faults.push(error);
  return site.hold(await maintain(pod, site.location, { onError, ...more }));
}

it('every kind of maintenance is done, by several workers at once', async () => {
  await site.openWorker(pod);
  const owner = `gone/${randomUUID()}`;
  await redisCommand(site.port, 'SADD', podsKey(), owner);
  const asked = await question(pod, { timeoutSeconds: 1 });
  await redisCommand(site.port, 'ZADD', deadlinesKey(bucketOf(asked.owner)), '9999999999999', 'el_stray');
  await Promise.all([keep(), keep(), keep()]);
  await waitUntil(async () => (await asked.status()) === 'expired', { what: 'the sweep' });
  await beat();
  const isKnown = () => redisCommand(site.port, 'SISMEMBER', podsKey(), owner);
  await waitUntil(async () => (await isKnown()) === 0, { what: 'the dead pod to be forgotten' });
  const bucket = deadlinesKey(bucketOf(asked.owner));
  await waitUntil(async () => (await redisCommand(site.port, 'EXISTS', bucket)) === 0, {
    what: 'the index check',
  });
  expect(await redisCommand(site.port, 'EXISTS', podKey(owner))).toBe(0);
  expect(await asked.endings()).toBe(1);
  expect(faults).toEqual([]);
});

it('one worker at a time does the rounds, and another one when its turn has ended', async () => {
  const { claims } = pod.backend;
  // So long that no turn ends by itself within the test.
  const round = (holder: string) =>
    inTurn(claims, 'take-over', { holder, everyMs: 600_000 }, async () => holder);
  expect([await round('one'), await round('other'), await round('one')]).toEqual(['one', undefined, 'one']);
  await claims.drop({ family: 'sweep', tenant: '', name: 'take-over' }, 'one');
  expect([await round('other'), await round('one')]).toEqual(['other', undefined]);
});

it('the age of the last canary is reported by the Redis clock', async () => {
  expect((await pod.backend.health()).timerCanaryAgeMs).toBeUndefined();
  await site.openWorker(pod);
  await keep();
  await beat();
  // Outlives a worker by far, so that its death shows as an age and not as silence.
  expect(Number(await redisCommand(site.port, 'PTTL', canaryKey()))).toBeGreaterThan(3_600_000);
});

it('continues after Redis has lost everything and all connections', async () => {
  await site.openWorker(pod);
  await keep();
  await beat();
  await redisCommand(site.port, 'FLUSHALL');
  await redisCommand(site.port, 'CLIENT', 'KILL', 'TYPE', 'normal');
  await beat();
});

it('one canary waits at most, however long no worker takes it', async () => {
  const queue = await site.openQueue();
  const claims: string[] = [];
  const { claims: real } = pod.backend;
  await keep({
    claims: {
      claim(name, value, ttlMs) {
        claims.push(name.name);
        return real.claim(name, value, ttlMs);
      },
    },
  });
  await waitUntil(() => claims.filter((work) => work === 'canary').length > 4, { what: 'several canaries' });
  expect(await queue.getJobCountByTypes()).toBe(1);
});
