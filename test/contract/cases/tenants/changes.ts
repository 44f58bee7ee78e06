import type { TenantSignal } from '@parley/shared/ports/tenant-changes';
import { describe, expect, it } from 'vitest';
import { decideAs, requestApproval } from '../../../harness/engines/approvals.ts';
import type { Contract } from '../../../harness/engines/contract.ts';
import { answerQuestion, askQuestion, newOwner, newStream } from '../../../harness/engines/questions.ts';
import { textWrite, turnOf } from '../../../harness/engines/turn-writes.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const ENDS = { status: 'finished', messages: [] } as const;

/** What watchers of a tenant are told. */
export function tenantChangesContract(contract: Contract): void {
  /** Watches a tenant on the second pod, until changes are told. */
  async function watch(tenant: string) {
    const signals: TenantSignal[] = [];
    const stop = contract.pods.second.tenantChanges.watch(tenant, (signal) => signals.push(signal));
    contract.onEnd(stop);
    await waitUntil(() => signals.length > 0, { what: 'changes to be told' });
    expect(signals.splice(0)).toEqual([{ type: 'reload' }]);
    return { signals, stop };
  }

  describe('the changes of a tenant', () => {
    it('are told to each watcher, of all kinds and users, in order and without those of other tenants', async () => {
      const { first, pods } = contract;
      const alice = newOwner();
      const bob = { ...alice, userId: 'bob/ü@example.com' };
      const watchers = [await watch(alice.tenant), await watch(alice.tenant)];
      await askQuestion(first, newOwner());
      const question = await askQuestion(first, alice);
      await answerQuestion(first, alice, question.row.id, 'decline');
      const stream = newStream(bob);
      const approval = await requestApproval(first, stream);
      await decideAs(first, stream, approval.row.id, { decision: 'approve' });
      const turn = turnOf(alice, newStream(alice).streamRequestId);
      const { runs } = pods.backend;
      await runs.begin(turn);
      await runs.write(turn, textWrite(2, 2));
      await runs.write(turn, textWrite(3, 3, { detach: { questions: [], runs: [] } }));
      const { term } = (await runs.standing(turn)) ?? { term: 0 };
      await runs.takeOver(turn, term, 'pod-2/1');
      await runs.stop(turn);
      await runs.write(turn, textWrite(4, 4, { term: term + 1, end: ENDS }));
      const expected = [
        ['elicitation', question.row.id, alice, 'began ended'],
        ['approval', approval.row.id, bob, 'began ended'],
        ['turn', turn.streamRequestId, alice, 'began changed changed changed ended'],
      ] as const;
      for (const { signals } of watchers) {
        await waitUntil(() => signals.length >= 9, { what: 'all changes' });
        expect(signals.every(({ type }) => type === 'change')).toBe(true);
        const changes = signals.flatMap((signal) => (signal.type === 'change' ? [signal.change] : []));
        for (const [kind, id, owner, words] of expected) {
          const own = changes.filter((change) => change.id === id);
          expect(own.map(({ change }) => change).join(' ')).toBe(words);
          for (const each of own) expect(each).toMatchObject({ kind, ...owner, at: expect.any(Number) });
        }
        expect(changes).toHaveLength(9);
      }
    });

    it('are not told any more to a watcher that has stopped', async () => {
      const owner = newOwner();
      const [stopped, other] = [await watch(owner.tenant), await watch(owner.tenant)];
      stopped.stop();
      await askQuestion(contract.first, owner);
      await waitUntil(() => other.signals.length === 1, { what: 'the change' });
      expect(stopped.signals).toEqual([]);
    });
  });
}
