import { bucketOf, mintElicitationId } from '@parley/core/domain/ids';
import { createDispatch } from '@parley/shared/delivery/dispatch';
import { silentObserver } from '@parley/shared/observe/observer';
import type { DeliveryKind } from '@parley/shared/ports/delivery/kind';
import type { Elicitations } from '@parley/shared/ports/elicitations/elicitations';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { FAMILY_DRIVERS } from '../../../harness/engines/families.ts';
import { readEntries } from '../../../harness/engines/observe.ts';
import { answerQuestion, askQuestion, newStream, serviceOf } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const AT_ONCE = 0.001;
/** Of each of two families more than one script handles at a time, over many buckets. */
const OWNERS = 60;

/** Deadlines of several records that are expired together. */
export function expiringTogetherContract(contract: Contract): void {
  async function openDue(count: number) {
    const opened = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const family = FAMILY_DRIVERS[index % FAMILY_DRIVERS.length] as (typeof FAMILY_DRIVERS)[number];
        const stream = newStream();
        const { row } = await family.open(contract.first, stream, { timeoutSeconds: AT_ONCE });
        return { family, stream, row, id: row.id };
      }),
    );
    const last = opened.reduce((a, b) => (a.row.expiresAt > b.row.expiresAt ? a : b));
    await waitUntil(
      async () => (await last.family.read(contract.first, last.stream, last.id)).now >= last.row.expiresAt,
      { what: 'the deadlines', everyMs: 1 },
    );
    return opened;
  }

  async function endsOf({ family, stream }: Awaited<ReturnType<typeof openDue>>[number]): Promise<number> {
    const entries = await readEntries(contract.pods.backend.feed, stream);
    return entries.filter(({ event }) => event.type === family.events.resolved).length;
  }

  describe('records that are expired together', () => {
    it('end once each, whatever their owner and family, and from two pods at once', async () => {
      const { first, second } = contract;
      const due = await openDue(OWNERS);
      const waits = due.map(({ family, stream, id }) => family.wait(second, stream, id));
      const ids = due.map(({ id }) => id);
      const early = await Promise.all([first.expireFired(ids), second.expireFired(ids)]);
      expect(early.map(({ size }) => size)).toEqual([0, 0]);
      for (const { row } of await Promise.all(waits)) expect(row.status).toBe('expired');
      expect(await Promise.all(due.map(endsOf))).toEqual(due.map(() => 1));
    });

    it('are each tried once where the pod that asked is at work, whatever it has not come to yet', async () => {
      const { pods } = contract;
      const tries = { asker: 0, backup: 0 };
      const { elicitations } = pods.backend;
      const counting = (who: keyof typeof tries, more: Partial<Elicitations> = {}) =>
        engineOn(pods.backend, {
          elicitations: {
            ...elicitations,
            ...more,
            commitEach(moves) {
              tries[who] += moves.length;
              return elicitations.commitEach(moves);
            },
          },
        });
      const asker = counting('asker');
      const stream = newStream();
      const asked: { readonly id: string; readonly expiresAt: number }[] = [];
      for (let index = 0; index < 6; index += 1)
        asked.push((await askQuestion(asker, stream, { timeoutSeconds: AT_ONCE })).row);
      await waitUntil(async () => (await elicitations.due(bucketOf(stream), 10)).length === asked.length, {
        what: 'the deadlines',
      });
      const left = asked.map(({ id }) => id);
      // Whenever the other process looks, the pod that asked has expired some more.
      const isExpiring = async () =>
        left.length > 0 && (await asker.expireFired(left.splice(0, 2))).size === 0;
      await counting('backup', { isExpiring }).expireDue({ bucket: bucketOf(stream), batch: 4 });
      expect(tries).toEqual({ asker: asked.length, backup: 0 });
      for (const { id } of asked)
        expect((await asker.read(serviceOf(stream), id)).row.status).toBe('expired');
    });

    it('are told from those that are not due, have ended or do not exist', async () => {
      const { first, second } = contract;
      const [due] = await openDue(1);
      const stream = newStream();
      const { row: open } = await askQuestion(first, stream, { timeoutSeconds: 60 });
      const { row: answered } = await askQuestion(first, stream, { timeoutSeconds: 60 });
      await answerQuestion(second, stream, answered.id, 'decline');
      const ids = [mintElicitationId(stream), open.id, 'no id at all', answered.id, due?.id ?? ''];
      const early = await first.expireFired(ids);
      expect([...early.keys()]).toEqual([open.id]);
      expect(early.get(open.id)).toBeGreaterThan(0);
      expect(early.get(open.id)).toBeLessThanOrEqual(60_000);
      const statusOf = async (id: string) => (await second.read(serviceOf(stream), id)).row.status;
      expect(await statusOf(open.id)).toBe('pending');
      expect(await statusOf(answered.id)).toBe('declined');
      if (due !== undefined)
        expect((await due.family.read(second, due.stream, due.id)).row.status).toBe('expired');
    });

    it('are decided anew where the row or the clock was another one at the commit', async () => {
      const { first, pods } = contract;
      const stream = newStream();
      const { row: open } = await askQuestion(first, stream, { timeoutSeconds: 60 });
      const { row: answered } = await askQuestion(first, stream, { timeoutSeconds: 60 });
      await answerQuestion(first, stream, answered.id, 'decline');
      const { elicitations } = pods.backend;
      // The rows as a pod has read them that was suspended before its commit, with a clock that runs ahead.
      const suspended = engineOn(pods.backend, {
        elicitations: {
          ...elicitations,
          readEach: async () =>
            [open, answered].map((row) => ({
              status: 'fulfilled',
              value: { row, now: open.expiresAt + 60_000 },
            })),
        },
      });
      const early = await suspended.expireFired([open.id, answered.id]);
      expect([...early.keys()]).toEqual([open.id]);
      const statusOf = async (id: string) => (await first.read(serviceOf(stream), id)).row.status;
      expect([await statusOf(open.id), await statusOf(answered.id)]).toEqual(['pending', 'declined']);
    });

    it('note the tasks of delivery kinds, which the process handles at once where they are immediate', async () => {
      const due = await openDue(4);
      const handled: string[] = [];
      const kind: DeliveryKind = {
        name: 'letter',
        places: 10,
        immediate: true,
        taskOn: ({ id, definition }) => ({ kind: 'letter', subject: id, bucket: bucketOf(definition) }),
        taskOnApproval: ({ id, definition }) => ({
          kind: 'letter',
          subject: id,
          bucket: bucketOf(definition),
        }),
        handle: async ({ subject }) => {
          handled.push(subject);
          return 'done';
        },
      };
      const { backend } = contract.pods;
      const deliveries = createDispatch({ outbox: backend.outbox, kinds: [kind], onFault: () => undefined });
      const observed: string[] = [];
      const observer = { ...silentObserver, settled: ({ id }: { id: string }) => void observed.push(id) };
      const ids = due.map(({ id }) => id);
      await engineOn(backend, { deliveries, observer }).expireFired(ids);
      await deliveries.idle();
      expect(handled.toSorted()).toEqual(ids.toSorted());
      const questions = due.filter(({ family }) => family.name === 'elicitation').map(({ id }) => id);
      expect(observed.toSorted()).toEqual(questions.toSorted());
    });
  });
}
