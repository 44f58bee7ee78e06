import { createHash } from 'node:crypto';
import type { AskInput } from '@parley/core/domain/elicitations/ask-input';
import type { Owner } from '@parley/core/domain/ids';
import type { AskResult } from '@parley/shared/elicitations/asking/ask';
import type { Engine } from '@parley/shared/elicitations/engine';
import { silentObserver } from '@parley/shared/observe/observer';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { callOutcome, expectCode, expectRefusal, readEntries } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askQuestion,
  inputFor,
  newOwner,
  newStream,
  serviceOf,
  userOf,
} from '../../../harness/engines/questions.ts';

const AWAY = new Error('the reply was lost');

/** The guarantees of an Idempotency-Key, and the ownership of a stream request. */
export function repeatingContract(contract: Contract): void {
  describe('the same ask again', () => {
    const askWith = (engine: Engine, owner: Owner, idempotencyKey: string, more = {}): Promise<AskResult> =>
      engine.ask({ tenant: owner.tenant, input: inputFor(owner, more), idempotencyKey });

    it('leads to the same question on every pod, open or ended', async () => {
      const { first, second, pods } = contract;
      const owner = newOwner();
      const asked = await askWith(first, owner, 'key');
      const again = await askWith(second, owner, 'key');
      expect(again.row).toEqual(asked.row);
      expect([asked.replayed, again.replayed]).toEqual([false, true]);
      const { row } = await answerQuestion(first, owner, asked.row.id, 'decline');
      expect((await askWith(second, owner, 'key')).row).toEqual(row);
      expect(await readEntries(pods.backend.feed, asked.row.definition)).toHaveLength(2);
    });

    it('is the same whatever the order of its fields', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const input = inputFor(owner, { context: { trigger: 'agent', a: 1, b: { c: [1, 2], d: null } } });
      const turned = inputFor(owner, { context: { b: { d: null, c: [1, 2] }, a: 1, trigger: 'agent' } });
      const asked = await first.ask({ tenant: owner.tenant, input, idempotencyKey: 'key' });
      const reversed = Object.fromEntries(Object.entries(turned).reverse()) as typeof turned;
      const again = await second.ask({ tenant: owner.tenant, input: reversed, idempotencyKey: 'key' });
      expect(again.row.id).toBe(asked.row.id);
    });

    it('is distinguished from another body by what was sent, whatever the defaults of a build are', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const { timeoutSeconds: _, ...withoutTimeout } = inputFor(owner);
      const ask = (engine: Engine, input: AskInput) =>
        engine.ask({ tenant: owner.tenant, input, idempotencyKey: 'key' });
      const { row } = await ask(first, withoutTimeout);
      expect(row.definition.timeoutSeconds).toBe(600);
      expect((await ask(second, withoutTimeout)).row.id).toBe(row.id);
      const spelledOut = ask(second, { ...withoutTimeout, timeoutSeconds: 600 });
      await expectCode(spelledOut, 'idempotency_mismatch');
    });

    it('is recognised when a build before this one took the first', async () => {
      const { first, pods } = contract;
      const owner = newOwner();
      const { timeoutSeconds: _, ...withoutTimeout } = inputFor(owner);
      const asked = await askQuestion(first, owner);
      const { id, definition } = asked.row;
      const sorted = (_key: string, value: unknown): unknown =>
        value === null || typeof value !== 'object' || Array.isArray(value)
          ? value
          : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
      // As those builds wrote it: over the parsed body, in which the default stands.
      const digest = createHash('sha256')
        .update(JSON.stringify({ ...withoutTimeout, timeoutSeconds: 600 }, sorted))
        .digest('base64url');
      const claim = JSON.stringify({ digest, id, streamRequestId: definition.streamRequestId });
      await pods.backend.claims.claim(
        { family: 'idempotency', tenant: owner.tenant, name: 'key' },
        claim,
        60_000,
      );
      const ask = (input: AskInput) => first.ask({ tenant: owner.tenant, input, idempotencyKey: 'key' });
      expect((await ask(withoutTimeout)).row.id).toBe(id);
      await expectCode(ask({ ...withoutTimeout, timeoutSeconds: 601 }), 'idempotency_mismatch');
    });

    it('by another service key is another question, and each key gets its own again', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const askBy = async (engine: Engine, askedBy: string) => {
        const input = inputFor(owner);
        const { row } = await engine.ask({ tenant: owner.tenant, input, idempotencyKey: 'key', askedBy });
        return row.id;
      };
      const one = await askBy(first, 'billing');
      const two = await askBy(second, 'shipping');
      expect(two).not.toBe(one);
      expect([await askBy(second, 'billing'), await askBy(first, 'shipping')]).toEqual([one, two]);
    });

    it('with another body is a mismatch, and creates no question', async () => {
      const { first, second, pods } = contract;
      const stream = newStream();
      await askWith(first, stream, 'key');
      const others = [{ message: 'Which size?' }, { timeoutSeconds: 601 }, { context: { trigger: 'other' } }];
      for (const more of [...others, { streamRequestId: 'elsewhere' }, { sensitive: true }]) {
        await expectCode(askWith(second, stream, 'key', more), 'idempotency_mismatch');
      }
      const other = { ...stream, userId: 'other' };
      expect(
        (await expectRefusal(askWith(second, { tenant: other.tenant, userId: 'other' }, 'key'))).code,
      ).toBe('idempotency_mismatch');
      expect(await readEntries(pods.backend.feed, stream)).toHaveLength(1);
      expect((await second.list({ owner: other, limit: 10 })).rows).toEqual([]);
    });

    it('with another key, or in another tenant, is another question', async () => {
      const { first, second } = contract;
      const [owner, other] = [newOwner(), newOwner()];
      const asked = await Promise.all([
        askWith(first, owner, 'key'),
        askWith(second, owner, 'Key'),
        askWith(second, owner, 'key '),
        askWith(second, owner, 'key/'),
        askWith(second, other, 'key'),
        askQuestion(first, owner),
      ]);
      expect(new Set(asked.map(({ row }) => row.id)).size).toBe(6);
      expect(asked.some(({ replayed }) => replayed)).toBe(false);
    });

    it('twenty times at once is one question', async () => {
      const { first, second, pods } = contract;
      for (const more of [{}, { streamRequestId: `stream-${crypto.randomUUID()}` }]) {
        const owner = newOwner();
        const announced: string[] = [];
        const observer = { ...silentObserver, asked: (row: { id: string }) => void announced.push(row.id) };
        const engines = [engineOn(pods.backend, { observer }), engineOn(pods.second, { observer })];
        const asked = await Promise.all(
          Array.from({ length: 20 }, (_, at) => askWith(engines[at % 2] ?? first, owner, 'key', more)),
        );
        const [one] = asked;
        expect(new Set(asked.map(({ row }) => JSON.stringify(row))).size).toBe(1);
        expect(asked.filter(({ replayed }) => !replayed)).toHaveLength(1);
        expect(announced).toEqual([one?.row.id]);
        expect((await second.list({ owner, limit: 30 })).rows).toHaveLength(1);
        expect(one && (await readEntries(pods.backend.feed, one.row.definition))).toHaveLength(1);
      }
    });

    it('completes an ask whose pod died between claim and question', async () => {
      const { second, pods } = contract;
      const { elicitations } = pods.backend;
      const owner = newOwner();
      const dying = engineOn(pods.backend, {
        elicitations: { ...elicitations, create: () => Promise.reject(AWAY) },
      });
      await expect(askWith(dying, owner, 'key')).rejects.toBe(AWAY);
      expect(await askWith(second, owner, 'key')).toMatchObject({
        replayed: false,
        row: { status: 'pending' },
      });
      expect(await askWith(second, owner, 'key')).toMatchObject({ replayed: true });
      const losing = engineOn(pods.backend, {
        elicitations: {
          ...elicitations,
          create: async (...args) => {
            await elicitations.create(...args);
            throw AWAY;
          },
        },
      });
      await expect(askWith(losing, owner, 'other')).rejects.toBe(AWAY);
      expect(await askWith(second, owner, 'other')).toMatchObject({ replayed: true });
      expect((await second.list({ owner, limit: 10 })).rows).toHaveLength(2);
    });

    it('does not use up its key if the ask was refused for its stream', async () => {
      const { first, second } = contract;
      const stream = newStream();
      await askQuestion(first, stream);
      const other = { tenant: stream.tenant, userId: 'other' };
      const refused = askWith(first, other, 'key', { streamRequestId: stream.streamRequestId });
      await expectCode(refused, 'stream_owner_mismatch');
      expect((await askWith(second, other, 'key')).replayed).toBe(false);
    });

    it('is answered although too many others are open', async () => {
      const pods = await contract.openWith({ openPerUserMax: 1 });
      const engine = engineOn(pods.backend);
      const owner = newOwner();
      const { row } = await askWith(engine, owner, 'key');
      expect((await askWith(engine, owner, 'key')).row).toEqual(row);
      await expectCode(askWith(engine, owner, 'other'), 'rate_limited');
    });
  });

  describe('a stream request', () => {
    it('belongs to the person it was first asked for', async () => {
      const { first, second, pods } = contract;
      const stream = newStream();
      await askQuestion(first, stream);
      const other = { ...stream, userId: 'other' };
      await expectCode(askQuestion(second, other), 'stream_owner_mismatch');
      expect((await second.list({ owner: other, limit: 10 })).rows).toEqual([]);
      expect(await pods.backend.feed.read(other, undefined, 10)).toEqual({ type: 'none' });
      await askQuestion(second, stream);
      expect(await readEntries(pods.second.feed, stream)).toHaveLength(2);
    });

    it('belongs to one person when many ask at once', async () => {
      const { first, second } = contract;
      const stream = newStream();
      const users = Array.from({ length: 12 }, (_, at) => `user-${at % 4}`);
      const ends = await Promise.all(
        users.map(async (userId, at) => ({
          userId,
          end: await callOutcome(askQuestion(at % 2 === 0 ? first : second, { ...stream, userId })),
        })),
      );
      const winners = new Set(ends.flatMap(({ userId, end }) => ('value' in end ? [userId] : [])));
      expect(winners.size).toBe(1);
      for (const { userId, end } of ends) {
        if ('refusal' in end) expect(end.refusal.code).toBe('stream_owner_mismatch');
        else expect(winners.has(userId)).toBe(true);
      }
      expect(ends.filter(({ end }) => 'value' in end)).toHaveLength(3);
    });

    it('and a conversation of equal ids are separate for each tenant and user', async () => {
      const { first, second, pods } = contract;
      const one = newStream();
      const other = { ...one, tenant: newOwner().tenant };
      const neighbour = { tenant: one.tenant, userId: 'neighbour' };
      const more = { conversationId: 'talk' };
      const { row } = await askQuestion(first, one, more);
      const { row: theirs } = await askQuestion(second, other, more);
      const { row: next } = await askQuestion(second, neighbour, more);
      await answerQuestion(second, other, theirs.id, 'decline');
      for (const [stream, rows] of [
        [one, [row.id]],
        [other, [theirs.id, theirs.id]],
      ] as const) {
        const entries = await readEntries(pods.backend.feed, stream);
        expect(entries.map(({ event }) => 'elicitationId' in event && event.elicitationId)).toEqual(rows);
      }
      for (const [owner, id] of [
        [one, row.id],
        [other, theirs.id],
        [neighbour, next.id],
      ] as const) {
        const page = await first.list({ owner, conversationId: 'talk', limit: 10 });
        expect(page.rows.map((listed) => listed.id)).toEqual([id]);
      }
      for (const caller of [serviceOf(other), userOf(other), userOf(neighbour)]) {
        await expectCode(first.read(caller, row.id), 'not_found');
      }
      expect((await first.read(userOf(one), row.id)).row.status).toBe('pending');
    });

    it('keeps users apart whose names are equal only when joined', async () => {
      const { first } = contract;
      const tenant = newOwner().tenant;
      const owners = [
        { tenant, userId: 'a/b' },
        { tenant: `${tenant}/a`, userId: 'b' },
        { tenant, userId: 'a%2Fb' },
        { tenant, userId: 'A/b' },
        { tenant, userId: 'a/b ' },
        { tenant, userId: '{a}/b' },
        { tenant, userId: 'é' },
        { tenant, userId: 'e\u0301' },
      ];
      const asked = await Promise.all(owners.map((owner) => askQuestion(first, owner)));
      for (const [at, owner] of owners.entries()) {
        const { rows } = await first.list({ owner, limit: 20 });
        expect(rows.map(({ id }) => id)).toEqual([asked[at]?.row.id]);
      }
    });
  });
}
