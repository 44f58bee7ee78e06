import { randomUUID } from 'node:crypto';
import { OWNER_RECORDS_MAX } from '@parley/shared/ports/owner-records';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../harness/engines/contract.ts';
import { RUN } from '../../harness/engines/questions.ts';
import { ROOMY } from '../../harness/engines/settings.ts';

const HOUR_MS = 3_600_000;
// Long enough for a slow process to renew one of two records within it.
const SHORT_MS = 3_000;

/** Records of owners: stored once, found on every pod, and gone with their time. */
export function ownerRecordContract(contract: Contract): void {
  const newOwner = () => ({ tenant: `tenant-${RUN}`, userId: `owner/ü ${randomUUID()}` });

  describe('records of owners', () => {
    it('keeps the first value of a name, for its owner only, and shows it on every pod', async () => {
      const { backend, second } = contract.pods;
      const [owner, other] = [newOwner(), newOwner()];
      expect(await backend.ownerRecords.mcp.putIfAbsent(owner, 'a name', 'first', HOUR_MS)).toBe('first');
      expect(await second.ownerRecords.mcp.putIfAbsent(owner, 'a name', 'second', HOUR_MS)).toBe('first');
      expect(await second.ownerRecords.mcp.read(owner, 'a name')).toBe('first');
      expect(await second.ownerRecords.mcp.read(other, 'a name')).toBeUndefined();
      expect(await second.ownerRecords.mcp.read(owner, 'another name', HOUR_MS)).toBeUndefined();
    });

    it('removes a record, or only the one with that value', async () => {
      const { backend, second } = contract.pods;
      const owner = newOwner();
      await backend.ownerRecords.mcp.putIfAbsent(owner, 'a', 'first', HOUR_MS);
      expect(await second.ownerRecords.mcp.remove(owner, 'a', 'other')).toBe(false);
      expect(await second.ownerRecords.mcp.remove(owner, 'a', 'first')).toBe(true);
      expect(await second.ownerRecords.mcp.remove(owner, 'a')).toBe(false);
      expect(await backend.ownerRecords.mcp.putIfAbsent(owner, 'a', 'second', HOUR_MS)).toBe('second');
      expect(await second.ownerRecords.mcp.remove(owner, 'a')).toBe(true);
      expect(await backend.ownerRecords.mcp.read(owner, 'a')).toBeUndefined();
    });

    it('changes a record in one step, from one value and while another record has its value', async () => {
      const { pushes } = contract.pods.backend.ownerRecords;
      const owner = newOwner();
      const change = (from: string | undefined, to: string, value?: string) =>
        pushes.replace(owner, {
          name: 'a',
          from,
          to,
          ttlMs: HOUR_MS,
          ...(value !== undefined && { whilst: { name: 'b', value } }),
        });
      expect(await change('first', 'second')).toBe(false);
      expect(await change(undefined, 'first', 'guard')).toBe(false);
      await pushes.putIfAbsent(owner, 'b', 'guard', HOUR_MS);
      expect(await change(undefined, 'first', 'guard')).toBe(true);
      expect(await change(undefined, 'second')).toBe(false);
      expect(await change('first', 'second', 'other')).toBe(false);
      expect(await change('first', 'second', 'guard')).toBe(true);
      // As a command that is sent once more.
      expect(await change('first', 'second', 'guard')).toBe(true);
      expect(await pushes.read(owner, 'a')).toBe('second');
      expect(
        Math.abs((await contract.pods.second.ownerRecords.pushes.now(owner)) - (await pushes.now(owner))),
      ).toBeLessThan(HOUR_MS);
    });

    it('keeps so many records of an owner, and drops the one that expires first', async () => {
      const { mcp: ownerRecords } = contract.pods.backend.ownerRecords;
      const owner = newOwner();
      const put = (name: string, life: number) => ownerRecords.putIfAbsent(owner, name, 'kept', life);
      await put('first', 2 * HOUR_MS);
      await put('sooner', HOUR_MS);
      const names = Array.from({ length: OWNER_RECORDS_MAX - 2 }, (_, index) => `record ${index}`);
      await Promise.all(names.map((name) => put(name, 3 * HOUR_MS)));
      expect(await ownerRecords.read(owner, 'sooner')).toBe('kept');
      // A record that is there already takes no place.
      await put('first', HOUR_MS);
      expect(await ownerRecords.read(owner, 'sooner')).toBe('kept');
      await put('one more', HOUR_MS);
      const read = await Promise.all(
        ['first', 'sooner', 'one more'].map((name) => ownerRecords.read(owner, name)),
      );
      expect(read).toEqual(['kept', undefined, 'kept']);
    });

    it('drops no record for one of another kind, however many those are', async () => {
      const { grants, slack } = contract.pods.backend.ownerRecords;
      const owner = newOwner();
      await grants.putIfAbsent(owner, 'a revocation', 'revoked', HOUR_MS);
      const posts = Array.from({ length: OWNER_RECORDS_MAX + 1 }, (_, index) => `post ${index}`);
      await Promise.all(posts.map((name) => slack.putIfAbsent(owner, name, 'posted', 2 * HOUR_MS)));
      expect(await grants.read(owner, 'a revocation')).toBe('revoked');
      expect(await grants.list(owner, '')).toEqual([{ name: 'a revocation', value: 'revoked' }]);
    });

    it('refuses entries of workflows beyond their own bound, and drops none', async () => {
      const { backend, second } = contract.pods;
      const { mcp: ownerRecords, workflows: workflowRecords } = backend.ownerRecords;
      const [owner, other] = [newOwner(), newOwner()];
      await ownerRecords.putIfAbsent(owner, 'a session', 'kept', HOUR_MS);
      const names = Array.from({ length: ROOMY.workflowEntriesMax }, (_, index) => `entry ${index}`);
      for (const name of names) await workflowRecords.putIfAbsent(owner, name, 'kept', 2 * HOUR_MS);
      const more = second.ownerRecords.workflows.putIfAbsent(owner, 'one more', 'refused', HOUR_MS);
      await expect(more).rejects.toMatchObject({ code: 'workflow_quota' });
      expect(await second.ownerRecords.workflows.read(owner, 'one more')).toBeUndefined();
      expect(await second.ownerRecords.workflows.putIfAbsent(owner, 'entry 0', 'again', HOUR_MS)).toBe(
        'kept',
      );
      expect(await second.ownerRecords.workflows.putIfAbsent(other, 'entry 0', 'of another', HOUR_MS)).toBe(
        'of another',
      );
      await workflowRecords.remove(owner, 'entry 0');
      expect(await workflowRecords.putIfAbsent(owner, 'one more', 'stored', HOUR_MS)).toBe('stored');
      await workflowRecords.removeAll(owner);
      expect(await workflowRecords.read(owner, 'entry 1')).toBeUndefined();
      expect(await ownerRecords.read(owner, 'a session')).toBe('kept');
    });

    it('removes all records of one owner and of no other', async () => {
      const { backend, second } = contract.pods;
      const [owner, other] = [newOwner(), newOwner()];
      for (const one of [owner, other])
        for (const name of ['a', 'b']) await backend.ownerRecords.mcp.putIfAbsent(one, name, 'kept', HOUR_MS);
      await second.ownerRecords.mcp.removeAll(owner);
      expect(await backend.ownerRecords.mcp.read(owner, 'a')).toBeUndefined();
      expect(await backend.ownerRecords.mcp.read(owner, 'b')).toBeUndefined();
      expect(await backend.ownerRecords.mcp.read(other, 'b')).toBe('kept');
    });

    it('forgets a record with its time, unless a read renews it', async () => {
      const { mcp: ownerRecords } = contract.pods.backend.ownerRecords;
      const owner = newOwner();
      await ownerRecords.putIfAbsent(owner, 'short', 'value', SHORT_MS);
      await ownerRecords.putIfAbsent(owner, 'renewed', 'value', SHORT_MS);
      expect(await ownerRecords.read(owner, 'renewed', HOUR_MS)).toBe('value');
      await expect.poll(() => ownerRecords.read(owner, 'short')).toBeUndefined();
      expect(await ownerRecords.read(owner, 'renewed')).toBe('value');
      expect(await ownerRecords.putIfAbsent(owner, 'short', 'again', SHORT_MS)).toBe('again');
    });
  });
}
