import { bucketOf, mintElicitationId, type Owner } from '@parley/core/domain/ids';
import { connectCommands } from '@parley/shared/redis/client/connect';
import { deadlinesKey, elicitationKey, inboxKey, tenantListKey } from '@parley/shared/redis/client/keys';
import { expect, it } from 'vitest';
import type { Contract } from '../../harness/engines/contract.ts';
import { answerQuestion, askQuestion, newOwner } from '../../harness/engines/questions.ts';
import { waitUntil } from '../../harness/wait-until.ts';
import { startTestPod } from '../../harness/worker/setup.ts';

/** The audits of a Redis that others do not use. */
export function auditContract({ location, lose, onEnd }: Contract): void {
  if (location === undefined || lose === undefined) return;

  it('an audit repairs every bucket, whichever master has it', async () => {
    await lose();
    const pod = await startTestPod({ location });
    onEnd(() => pod.close());
    const redis = connectCommands(location);
    onEnd(() => redis.disconnect());
    await waitUntil(() => redis.status === 'ready', { what: 'the connection' });
    const owners = Array.from({ length: 24 }, newOwner);
    for (const [index, owner] of owners.entries()) {
      const { row } = await askQuestion(pod.engine, owner);
      if (index % 3 === 0) {
        await redis.del(inboxKey(owner));
      } else if (index % 3 === 1) {
        await redis.zadd(deadlinesKey(bucketOf(owner)), 1, mintElicitationId(owner));
      } else {
        await answerQuestion(pod.engine, owner, row.id, 'decline');
        await redis.persist(elicitationKey(row.id));
      }
    }
    // The indexes list each question that is open, and eight that never were, which are long overdue.
    const before = await pod.audit.pending();
    expect(before.open).toBe(24);
    expect(before.overdueMs).toBeGreaterThan(Date.UTC(2026, 0));
    expect(await pod.audit.cleanup()).toEqual({ removed: 8, left: 0, repaired: 16 });
    expect(await pod.audit.pending()).toEqual({ open: 16, overdueMs: 0 });
    expect(await pod.audit.indexCheck()).toMatchObject({ open: 16, repaired: 0 });
    expect(await pod.audit.cleanup()).toEqual({ removed: 0, left: 0, repaired: 0 });
    // The list of a tenant gets a lost entry back, with the time for which its record may stay.
    const [owner] = owners as [Owner];
    const list = tenantListKey('elicitations', owner.tenant, bucketOf(owner));
    const listed = await redis.zrange(list, '0', '-1', 'WITHSCORES');
    await redis.del(list);
    expect(await pod.audit.indexCheck()).toMatchObject({ open: 16, repaired: 1 });
    expect(await redis.zrange(list, '0', '-1', 'WITHSCORES')).toEqual(listed);
    expect(await redis.pttl(list)).toBeGreaterThan(600_000);
  });
}
