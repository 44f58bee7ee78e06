import { randomUUID } from 'node:crypto';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { ParleyError } from '@parley/core/domain/errors';
import { eventNumberOf } from '@parley/core/domain/events';
import { BUCKET_COUNT, bucketOf } from '@parley/core/domain/ids';
import { silentObserver } from '@parley/shared/observe/observer';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn, withoutRows } from '../../../harness/engines/engines.ts';
import { callOutcome, expectCode, readEntries, untilDue } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askOnStream,
  askQuestion,
  inputFor,
  newOwner,
  newStream,
  serviceOf,
} from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const BUCKETS = Array.from({ length: BUCKET_COUNT }, (_, bucket) => bucket);
/** More than a sweep expires of one bucket at a time. */
const OVERDUE = 30;

/** Deadlines without a waiter, and deletion after the retention. */
export function leavingContract(contract: Contract): void {
  describe('a deadline', () => {
    it('that has passed stays in the index of its bucket, oldest first, until it is settled', async () => {
      const { first, pods } = contract;
      const owner = newOwner();
      const bucket = bucketOf(owner);
      const due = async (limit = 10_000) => {
        const ids = await pods.second.elicitations.due(bucket, limit);
        const rows = await Promise.all(ids.map((id) => pods.second.elicitations.read(id)));
        expect(
          rows.every(({ row, now }) => row !== undefined && now >= row.expiresAt && !isTerminal(row.status)),
        ).toBe(true);
        return ids;
      };
      const pair = [
        await askQuestion(first, owner, { timeoutSeconds: 0.25 }),
        await askQuestion(first, owner, { timeoutSeconds: 0.05 }),
      ] as const;
      // A slow process may have asked the second one later than the first one ends.
      const [soon, late] = pair.toSorted(
        (one, other) => one.row.expiresAt - other.row.expiresAt,
      ) as unknown as typeof pair;
      const far = await askQuestion(first, owner);
      await waitUntil(async () => (await due()).includes(late.row.id), {
        what: 'the deadline in the index',
        everyMs: 5,
      });
      const ids = await due();
      expect(ids.indexOf(soon.row.id)).toBeGreaterThanOrEqual(0);
      expect(ids.indexOf(soon.row.id)).toBeLessThan(ids.indexOf(late.row.id));
      expect(ids).not.toContain(far.row.id);
      expect(await due(1)).toHaveLength(1);
      expect(await first.expire(far.row.id)).toMatchObject({ type: 'early' });
      expect(await first.expire(soon.row.id)).toEqual({ type: 'expired' });
      expect(await first.expire(soon.row.id)).toEqual({ type: 'ended' });
      expect(await due()).not.toContain(soon.row.id);
      await pods.second.elicitations.forget(bucketOf(soon.row.definition), soon.row.id);
      expect(await due()).toContain(late.row.id);
    });

    it('is enforced once by the sweep when nothing else does, however many pods sweep', async () => {
      const { first, second, pods } = contract;
      const stream = newStream();
      const { row: open } = await askQuestion(first, stream);
      const overdue = await Promise.all(
        Array.from({ length: OVERDUE }, () => askQuestion(first, stream, { timeoutSeconds: 0.001 })),
      );
      await Promise.all(overdue.map(({ row }) => untilDue(first, row)));
      const results = await Promise.all([first.sweep(), second.sweep()]);
      expect(results[0].expired + results[1].expired).toBeGreaterThanOrEqual(OVERDUE);
      const { rows } = await second.list({ owner: stream, limit: 500 });
      expect(rows.filter(({ status }) => status === 'expired')).toHaveLength(OVERDUE);
      expect(rows.filter(({ status }) => status === 'pending').map(({ id }) => id)).toEqual([open.id]);
      const resolved = (await readEntries(pods.backend.feed, stream)).filter(
        ({ event }) => event.type === 'elicitation-resolved',
      );
      expect(new Set(resolved.map(({ event }) => 'elicitationId' in event && event.elicitationId)).size).toBe(
        OVERDUE,
      );
      expect(resolved).toHaveLength(OVERDUE);
      expect((await pods.backend.elicitations.due(bucketOf(stream), 10_000)).length).toBe(0);
    });

    it('is enforced by one pod at a time when pods take turns to sweep', async () => {
      const { first, second } = contract;
      const [one, other] = [
        { holder: randomUUID(), everyMs: 1_000 },
        { holder: randomUUID(), everyMs: 4_000 },
      ];
      const results = await Promise.all([first.sweepInTurn(one), second.sweepInTurn(other)]);
      expect(results.filter((result) => result !== undefined)).toHaveLength(1);
      const isNext = async () => (await second.sweepInTurn(other)) !== undefined;
      await waitUntil(isNext, { what: 'the turn of the second' });
      expect(await first.sweepInTurn(one)).toBeUndefined();
    });

    it('is enforced by the sweep although the server of other buckets is unavailable, which is reported', async () => {
      const { first, pods } = contract;
      const stream = newStream();
      const { elicitations } = pods.backend;
      const { row } = await askQuestion(first, stream, { timeoutSeconds: 0.001 });
      await untilDue(first, row);
      const away = new ParleyError('unavailable', 'away');
      // A server that hangs: its buckets reply only once every bucket was asked.
      const asked = new Set<number>();
      const elsewhere = async (bucket: number): Promise<never> => {
        asked.add(bucket);
        await waitUntil(async () => asked.size === BUCKET_COUNT - 1, {
          what: 'the other buckets to be asked',
        });
        throw away;
      };
      const engine = engineOn(pods.backend, {
        elicitations: {
          ...elicitations,
          occupied: () => [Promise.resolve(BUCKETS), Promise.reject(away)],
          due: (bucket, ...more) =>
            bucket === bucketOf(stream) ? elicitations.due(bucket, ...more) : elsewhere(bucket),
        },
      });
      await expect(engine.sweep()).rejects.toBe(away);
      expect((await first.read(serviceOf(stream), row.id)).row.status).toBe('expired');
    });

    it('is enforced by the sweep although several batches of earlier rows cannot be read', async () => {
      const { first, pods } = contract;
      const stream = newStream();
      const { elicitations } = pods.backend;
      const overdue = await Promise.all(
        Array.from({ length: OVERDUE }, () => askQuestion(first, stream, { timeoutSeconds: 0.001 })),
      );
      const broken = new Set(overdue.map(({ row }) => row.id));
      const last = await askQuestion(first, stream, { timeoutSeconds: 0.05 });
      await untilDue(first, last.row);
      const passedOver = new Set<string>();
      const engine = engineOn(pods.backend, {
        elicitations: withoutRows(elicitations, broken),
        observer: { ...silentObserver, sweepFailed: (id) => void passedOver.add(id) },
      });
      await engine.sweep();
      expect((await first.read(serviceOf(stream), last.row.id)).row.status).toBe('expired');
      expect(passedOver).toEqual(broken);
      await first.sweep();
    });

    it('refuses an answer that was decided before it and is committed after it', async () => {
      const { first, pods } = contract;
      const { stream, row } = await askOnStream(first, { timeoutSeconds: 0.05 });
      await untilDue(first, row);
      const { elicitations } = pods.backend;
      // The row as a pod has read it that was suspended between its decision and its commit.
      const suspended = engineOn(pods.backend, {
        elicitations: { ...elicitations, read: async () => ({ row, now: row.createdAt }) },
      });
      await expectCode(answerQuestion(suspended, stream, row.id, 'decline'), 'expired');
      expect((await first.read(serviceOf(stream), row.id)).row.status).toBe('expired');
      const ends = (await readEntries(pods.second.feed, stream)).map(({ event }) => event);
      expect(ends).toMatchObject([{ status: 'pending' }, { status: 'expired' }]);
    });
  });

  describe('after the retention', () => {
    // So long that a slow machine asks again before.
    const RETENTION = { retentionMs: 2_000 };

    it('ended rows, lists and feeds are deleted; open ones stay', async () => {
      const pods = await contract.openWith(RETENTION);
      const [first, second] = [engineOn(pods.backend), engineOn(pods.second)];
      const ending = newStream();
      const staying = newStream(ending);
      const { row: open } = await askQuestion(first, staying);
      const { row: answered } = await askQuestion(first, ending, { timeoutSeconds: 0.5 });
      const { row: expired } = await askQuestion(first, ending, { timeoutSeconds: 0.05 });
      await callOutcome(answerQuestion(second, ending, answered.id, 'decline'));
      await callOutcome(first.wait({ caller: serviceOf(ending), id: expired.id }));
      for (const { id } of [answered, expired]) {
        await waitUntil(async () => 'refusal' in (await callOutcome(second.read(serviceOf(ending), id))), {
          what: 'the row to leave',
        });
        await expectCode(answerQuestion(first, ending, id, 'decline'), 'not_found');
        expect(await first.expire(id)).toEqual({ type: 'gone' });
      }
      expect((await second.list({ owner: ending, limit: 10 })).rows.map(({ id }) => id)).toEqual([open.id]);
      const gone = async () => (await pods.backend.feed.read(ending, undefined, 1)).type === 'none';
      await waitUntil(gone, { what: 'the feed to leave' });
      expect(await readEntries(pods.backend.feed, staying)).toHaveLength(1);
      expect((await second.read(serviceOf(staying), open.id)).row).toEqual(open);
      expect((await answerQuestion(second, staying, open.id, 'cancel')).row.status).toBe('cancelled');
    });

    it('a feed stays for the retention after the deadline of a later question', async () => {
      const pods = await contract.openWith(RETENTION);
      const engine = engineOn(pods.backend);
      const { stream, row } = await askOnStream(engine, { timeoutSeconds: 0.05 });
      await engine.wait({ caller: serviceOf(stream), id: row.id });
      await askQuestion(engine, stream);
      await waitUntil(async () => 'refusal' in (await callOutcome(engine.read(serviceOf(stream), row.id))), {
        what: 'the row to leave',
      });
      expect((await readEntries(pods.second.feed, stream)).map(({ event }) => event.type)).toEqual([
        'elicitation-request',
        'elicitation-resolved',
        'elicitation-request',
      ]);
    });

    it('a feed that is created again has another epoch', async () => {
      const pods = await contract.openWith({ retentionMs: 3_000 });
      const engine = engineOn(pods.backend);
      const stream = newStream();
      await askQuestion(engine, stream, { timeoutSeconds: 0.05 });
      const [old] = await readEntries(pods.backend.feed, stream);
      await waitUntil(async () => (await pods.second.feed.read(stream, undefined, 1)).type === 'none', {
        what: 'the feed to leave',
      });
      await askQuestion(engine, stream);
      const [begun] = await readEntries(pods.second.feed, stream);
      expect(begun && eventNumberOf(begun.position)).toBe(1);
      expect(BigInt(begun?.position.epoch ?? 0)).toBeGreaterThan(BigInt(old?.position.epoch ?? 0));
      expect(await pods.second.feed.read(stream, old?.position, 10)).toEqual({ type: 'reset' });
    });

    it('an idempotency key is free again', async () => {
      const pods = await contract.openWith(RETENTION);
      const settings = RETENTION;
      const [first, second] = [engineOn(pods.backend, { settings }), engineOn(pods.second, { settings })];
      const owner = newOwner();
      const request = { tenant: owner.tenant, input: inputFor(owner), idempotencyKey: 'key' };
      const asked = await first.ask(request);
      await answerQuestion(first, owner, asked.row.id, 'decline');
      await waitUntil(async () => (await second.ask(request)).row.id !== asked.row.id, {
        what: 'the key to be free',
      });
    });
  });

  const { lose } = contract;
  // A store that lives and dies with its process cannot lose what it holds and live on.
  if (lose !== undefined) lossContract(contract, lose);
}

function lossContract(contract: Contract, lose: NonNullable<Contract['lose']>): void {
  describe('a store that lost everything', () => {
    it('reports the loss, and works again from empty', async () => {
      const { first, second, pods } = contract;
      const { stream, row } = await askOnStream(first);
      const engine = engineOn(pods.backend, { settings: { recheckMs: 40 } });
      const waiting = callOutcome(engine.wait({ caller: serviceOf(stream), id: row.id }));
      const [old] = await readEntries(pods.backend.feed, stream);
      await lose();
      expect(await waiting).toMatchObject({ refusal: { code: 'not_found' } });
      await expectCode(answerQuestion(second, stream, row.id, 'decline'), 'not_found');
      await askQuestion(second, stream);
      expect(await pods.backend.feed.read(stream, old?.position, 10)).toEqual({ type: 'reset' });
    });
  });
}
