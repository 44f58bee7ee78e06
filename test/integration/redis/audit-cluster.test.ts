import { bucketOf, mintElicitationId } from '@parley/shared/domain/ids';
import type { RedisLocation } from '@parley/shared/ports/redis-location';
import { type Commands, connectCommands } from '@parley/shared/redis/client/connect';
import { deadlinesKey, elicitationKey, inboxKey } from '@parley/shared/redis/client/keys';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answerQuestion, askQuestion, newOwner } from '../../harness/engines/questions.ts';
import { type ClusterTopology, startCluster } from '../../harness/redis/cluster.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { startTestPod, type TestPod } from '../../harness/worker/setup.ts';

let cluster: ClusterTopology;
let pod: TestPod;
let redis: Commands;

beforeAll(async () => {
  cluster = await startCluster({ masters: 3, replicas: 0, nodeTimeoutMs: 30_000 });
  const location: RedisLocation = { kind: 'cluster', nodes: cluster.nodes };
  pod = await startTestPod({ location });
  redis = connectCommands(location);
  await waitUntil(() => redis.status === 'ready', { what: 'the connection' });
}, 120_000);
afterAll(async () => {
  redis?.disconnect();
  await pod?.close();
  await cluster?.stop();
});

it('audits every master of a Cluster', async () => {
  const owners = Array.from({ length: 24 }, newOwner);
  for (const [index, owner] of owners.entries()) {
    const { row } = await askQuestion(pod.engine, owner);
    const deadlines = deadlinesKey(bucketOf(owner));
    if (index % 3 === 0) {
      await redis.del(inboxKey(owner));
    } else if (index % 3 === 1) {
      await redis.zadd(deadlines, 1, mintElicitationId(owner));
    } else {
      await answerQuestion(pod.engine, owner, row.id, 'decline');
      await redis.persist(elicitationKey(row.id));
    }
  }
  expect(await pod.audit.cleanup()).toEqual({ removed: 8, left: 0, repaired: 16 });
  expect(await pod.audit.indexCheck()).toMatchObject({ open: 16, repaired: 0 });
  expect(await pod.audit.cleanup()).toEqual({ removed: 0, left: 0, repaired: 0 });
});
