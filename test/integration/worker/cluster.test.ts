import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { schedule } from '@parley/shared/redis/jobs/schedules';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterTopology, startCluster } from '../../harness/redis/cluster.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import {
  allExpire,
  question,
  startTestPod,
  startTestWorker,
  type TestPod,
} from '../../harness/worker/setup.ts';

const TIMER_QUEUES = 3;

let cluster: ClusterTopology;
let location: RedisLocation;
let pod: TestPod;

beforeAll(async () => {
  cluster = await startCluster({ masters: 3, replicas: 0, nodeTimeoutMs: 30_000 });
  location = { kind: 'cluster', nodes: cluster.nodes };
  pod = await startTestPod({ location, timers: 'queue', timerQueues: TIMER_QUEUES });
});
afterAll(async () => {
  await pod?.close();
  await cluster?.stop();
});

it('works on a Cluster: deadlines over several queues, and maintenance', async () => {
  const faults: unknown[] = [];
  const onError = (error: unknown) => faults.push(error);
  const worker = await startTestWorker(pod, location, { timerQueues: TIMER_QUEUES, onError });
  const everyMs = {
    sweep: 600_000,
    outbox: 600_000,
    'take-over': 200,
    'index-check': 200,
    cleanup: 200,
    canary: 100,
  };
  const schedules = schedule({ location, everyMs, onError });
  try {
    await schedules.ready();
    await allExpire(
      await Promise.all(Array.from({ length: 12 }, () => question(pod, { timeoutSeconds: 1 }))),
    );
    await waitUntil(async () => (await pod.backend.health()).timerCanaryAgeMs !== undefined, {
      what: 'the canary',
    });
    expect(faults).toEqual([]);
  } finally {
    schedules.close();
    await worker.close();
  }
});
