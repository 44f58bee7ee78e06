import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterTopology, startCluster } from '../../harness/redis/cluster.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { maintain } from '../../harness/worker/maintain.ts';
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
  const maintenance = await maintain(pod, location, { onError });
  try {
    await allExpire(
      await Promise.all(Array.from({ length: 12 }, () => question(pod, { timeoutSeconds: 1 }))),
    );
    await waitUntil(async () => (await pod.backend.health()).timerCanaryAgeMs !== undefined, {
      what: 'the canary',
    });
    expect(faults).toEqual([]);
  } finally {
    await maintenance.close();
    await worker.close();
  }
});
