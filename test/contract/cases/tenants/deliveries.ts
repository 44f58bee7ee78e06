import { randomUUID } from 'node:crypto';
import {
  bucketOf,
  formatStreamPath,
  mintStreamRequestId,
  type Owner,
  type StreamRef,
} from '@parley/core/domain/ids';
import type { Deliveries } from '@parley/shared/ports/delivery/kind';
import type { OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { resumeTask } from '@parley/shared/ports/runs/resume-task';
import type { TenantChange } from '@parley/shared/ports/tenant-changes';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { answerQuestion, askQuestion, newOwner } from '../../../harness/engines/questions.ts';
import { textWrite, turnOf } from '../../../harness/engines/turn-writes.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const HOUR_MS = 3_600_000;

/** What must still be delivered for a tenant. */
export function tenantDeliveriesContract(contract: Contract): void {
  const listed = async (tenant: string, bucket?: number) => {
    const { tenantLists } = contract.pods.second;
    const request = { tenant, kind: 'deliveries', state: 'open', order: 'oldest', limit: 100 } as const;
    return (await tenantLists.slice({ ...request, ...(bucket !== undefined && { bucket }) })).map(
      ({ member }) => member,
    );
  };

  /** A kind of its own, so that no other test takes these tasks; named by each commit that ends a question. */
  function letters() {
    const kind = `letter-${randomUUID()}`;
    const taskOf = (subject: string, owner: Owner): OutboxTask => ({
      kind,
      subject,
      bucket: bucketOf(owner),
    });
    const deliveries: Deliveries = {
      kinds: [kind],
      notesOn: ({ id, definition, status }) => ({
        tasks: status === 'pending' ? [] : [taskOf(id, definition)],
      }),
      notesOnApproval: () => ({ tasks: [] }),
      now: async () => undefined,
    };
    const take = async (task: OutboxTask, leaseMs = 600_000) => {
      const entries = await contract.pods.second.outbox.take(task.bucket, { [kind]: 10 }, leaseMs);
      const entry = entries.find((one) => one.task.subject === task.subject);
      if (entry === undefined) throw new Error('The task is not due.');
      return entry;
    };
    return { kind, taskOf, take, engine: engineOn(contract.pods.backend, { deliveries }) };
  }

  describe('the deliveries of a tenant', () => {
    it('are listed from the commit that notes them until they are done, whatever becomes of their attempts', async () => {
      const { kind, taskOf, take, engine } = letters();
      const { outbox } = contract.pods.backend;
      const owner = newOwner();
      const ids: string[] = [];
      for (const userId of ['ada', 'bob/ü']) {
        const { row } = await askQuestion(engine, { ...owner, userId });
        await answerQuestion(engine, { ...owner, userId }, row.id, 'decline');
        ids.push(row.id);
      }
      const [id = ''] = ids;
      const task = taskOf(id, { ...owner, userId: 'ada' });
      const members = ids.map((one) => `${kind} ${one}`);
      expect(new Set(await listed(owner.tenant))).toEqual(new Set(members));
      expect(await listed(owner.tenant, task.bucket)).toContain(members[0]);
      expect(await listed(newOwner().tenant)).toEqual([]);

      // The process that had it first died.
      expect(await take(task, 0)).toMatchObject({ attempt: 1, tenant: owner.tenant });
      await outbox.again(await take(task), 0, { code: 'status', status: 503 });
      expect(await outbox.find(task)).toEqual({
        dueInMs: 0,
        attempts: 1,
        isLeased: false,
        failure: { code: 'status', status: 503 },
      });
      await outbox.giveBack(await take(task), 0, { code: 'limited' });
      const { now, standings } = await outbox.findMany([task, taskOf('el_none', owner)]);
      expect(now).toBeGreaterThan(1_600_000_000_000);
      expect(standings).toEqual([
        { dueInMs: 0, attempts: 1, isLeased: false, failure: { code: 'limited' } },
        undefined,
      ]);
      // It is noted again while it is under way, and stays until that is done, too.
      const entry = await take(task);
      await outbox.add(task, owner.tenant);
      expect(await outbox.done(entry)).toBe(true);
      expect(await listed(owner.tenant)).toHaveLength(2);
      expect(await outbox.find(task)).toEqual({ dueInMs: 0, attempts: 0, isLeased: false });
      // All is delivered, and more may follow.
      await outbox.again(await take(task), 0, { code: 'timeout' });
      await outbox.rest(await take(task), 0);
      expect(await listed(owner.tenant)).toEqual(members.slice(1));
      expect(await outbox.find(task)).toEqual({ dueInMs: 0, attempts: 0, isLeased: false });
      const again = await take(task);
      expect(again.tenant).toBeUndefined();
      await outbox.add(task, owner.tenant);
      await outbox.rest(again, 600_000);
      expect(await listed(owner.tenant)).toHaveLength(2);
      await outbox.done(await take(task));
      expect(await listed(owner.tenant)).toEqual(members.slice(1));
    });

    it('are those that leave Parley, noted by a commit, by the end of a turn or alone', async () => {
      const { outbox, subscriptions, runs } = contract.pods.backend;
      const owner = newOwner();
      const run = turnOf(owner);
      const stream: StreamRef = { ...owner, streamRequestId: run.streamRequestId };
      await runs.begin(run);
      await subscriptions.add(stream, 'slack', HOUR_MS);
      await subscriptions.add(stream, 'a2a-push', HOUR_MS);
      await runs.write(run, textWrite(2, 3, { end: { status: 'finished', messages: [] } }));
      await outbox.add(resumeTask(stream, 1), owner.tenant);
      const path = formatStreamPath(stream);
      expect(await listed(owner.tenant)).toEqual([`slack ${path}`]);
      const part: OutboxTask = { kind: 'a2a-deliver', subject: `${path}/0`, bucket: bucketOf(owner) };
      await outbox.add(part, owner.tenant);
      await outbox.add({ ...part, subject: `${path}/1` });
      expect(new Set(await listed(owner.tenant))).toEqual(
        new Set([`slack ${path}`, `a2a-deliver ${path}/0`]),
      );
      // Only what is not outstanding is removed.
      await outbox.unlist(part, owner.tenant);
      expect(await listed(owner.tenant)).toHaveLength(2);
      for (const kind of ['a2a-deliver', 'slack', 'a2a-push', 'resume-run'])
        await outbox.removeOf(owner, kind);
      expect(await listed(owner.tenant)).toEqual([]);
      const task = letters().taskOf('el_one', owner);
      await outbox.add(task, owner.tenant);
      await outbox.remove(task, owner.tenant);
      expect(await listed(owner.tenant)).toEqual([]);
    });

    it('are told to those who watch the tenant when they fail, end or are begun again', async () => {
      const { taskOf, take } = letters();
      const { outbox } = contract.pods.backend;
      const owner = newOwner();
      const { tenant } = owner;
      const changes: TenantChange[] = [];
      let isTold = false;
      contract.onEnd(
        contract.pods.second.tenantChanges.watch(tenant, (signal) => {
          if (signal.type === 'change') changes.push(signal.change);
          else isTold = true;
        }),
      );
      await waitUntil(() => isTold, { what: 'changes to be told' });
      const streamRequestId = mintStreamRequestId();
      const path = formatStreamPath({ ...owner, streamRequestId });
      for (const subject of ['el_one', `${path}/0`]) {
        const task = taskOf(subject, owner);
        await outbox.add(task, tenant);
        await outbox.again(await take(task), 0, { code: 'timeout' });
        await outbox.giveBack(await take(task), 0);
        await outbox.done(await take(task));
      }
      await waitUntil(() => changes.length >= 6, { what: 'all changes' });
      const told = ['began', 'changed', 'ended'].map((change) => ({ kind: 'delivery', tenant, change }));
      expect(changes).toMatchObject([
        ...told.map((one) => ({ ...one, id: 'el_one' })),
        ...told.map((one) => ({ ...one, id: streamRequestId, userId: owner.userId })),
      ]);
    });
  });
}
