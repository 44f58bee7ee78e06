import { toWire } from '@parley/shared/domain/elicitations/row';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { expectRefusal, readEntries } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askQuestion,
  newOwner,
  newStream,
  QUESTIONS,
  serviceOf,
  userOf,
} from '../../../harness/engines/questions.ts';

const AWAY = new Error('the reply was lost');

/** What an answer is, whose it is, and that a lost reply does no harm. */
export function answeringContract(contract: Contract): void {
  describe('an answer', () => {
    it('is recorded unchanged, and an equal one counts as the same answer', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const { row } = await askQuestion(first, owner);
      const content = { note: 'Zoë 🦜 \\ " \n', colour: 'red' };
      const taken = await answerQuestion(first, owner, row.id, 'accept', content);
      expect(taken.row).toMatchObject({
        status: 'accepted',
        settlement: { action: 'accept', content, surface: 'test' },
      });
      const again = await answerQuestion(second, owner, row.id, 'accept', {
        colour: 'red',
        note: 'Zoë 🦜 \\ " \n',
      });
      expect(again.row).toEqual(taken.row);
      const wire = toWire(again.row, { now: again.now, content: true });
      expect(wire).toMatchObject({
        content,
        action: 'accept',
        settledBy: { surface: 'test' },
        status: 'accepted',
      });
    });

    it('that differs in any field is a different answer', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const { row } = await askQuestion(first, owner);
      await answerQuestion(first, owner, row.id, 'accept', { colour: 'red', note: 'x' });
      for (const other of [
        { colour: 'red' },
        { colour: 'red', note: 'X' },
        { colour: 'blue', note: 'x' },
        {},
      ]) {
        const refusal = await expectRefusal(answerQuestion(second, owner, row.id, 'accept', other));
        expect(refusal.code).toBe('already_settled');
        expect(refusal.elicitation).toMatchObject({
          status: 'accepted',
          content: { colour: 'red', note: 'x' },
        });
      }
    });

    it('that does not fit the schema is refused with the field, and the question stays open', async () => {
      const { first } = contract;
      const stream = newStream();
      const { row } = await askQuestion(first, stream);
      const refusal = await expectRefusal(
        answerQuestion(first, stream, row.id, 'accept', { note: 7, size: 1 }),
      );
      expect(refusal.code).toBe('invalid_answer');
      expect(refusal.issues?.map(({ path }) => path).sort()).toEqual(['colour', 'note', 'size']);
      expect((await first.read(serviceOf(stream), row.id)).row).toEqual(row);
      expect(await readEntries(contract.pods.backend.feed, stream)).toHaveLength(1);
    });

    it('keeps every kind of text unchanged', async () => {
      const { first, second } = contract;
      for (const note of [
        '',
        '{"a":1}',
        '[]',
        'null',
        '\u2028\u0001\t',
        'x'.repeat(10_000),
        '語'.repeat(10_000),
      ]) {
        const owner = newOwner();
        const { row } = await askQuestion(first, owner);
        await answerQuestion(first, owner, row.id, 'accept', { colour: 'red', note });
        const { settlement } = (await second.read(serviceOf(owner), row.id)).row;
        expect(settlement?.content).toEqual({ colour: 'red', note });
      }
    });

    it('is accepted from the owner only; for other users the question does not exist', async () => {
      const { first } = contract;
      const owner = newOwner();
      const { row } = await askQuestion(first, owner);
      const strangers = [{ ...owner, userId: 'other' }, { ...owner, tenant: newOwner().tenant }, newOwner()];
      for (const stranger of strangers) {
        expect((await expectRefusal(answerQuestion(first, stranger, row.id, 'decline'))).code).toBe(
          'not_found',
        );
        expect((await expectRefusal(first.read(userOf(stranger), row.id))).code).toBe('not_found');
      }
      const elsewhere = serviceOf(newOwner());
      for (const call of [
        first.read(elsewhere, row.id),
        first.withdraw({ caller: elsewhere, id: row.id, reason: 'superseded' }),
        first.complete({ caller: elsewhere, id: row.id, surface: 'test' }),
        first.wait({ caller: elsewhere, id: row.id, timeoutMs: 1 }),
      ]) {
        expect((await expectRefusal(call)).code).toBe('not_found');
      }
      expect((await first.read(serviceOf(owner), row.id)).row).toEqual(row);
    });

    it('to a question that does not exist is refused', async () => {
      const { first } = contract;
      const owner = newOwner();
      const { row } = await askQuestion(first, owner);
      const unknown = `${row.id.slice(0, -1)}${row.id.endsWith('A') ? 'B' : 'A'}`;
      for (const id of [unknown, '', 'el_', 'nonsense', `${row.id}\n`, 'el_99AAAAAAAAAAAAAAAAAAAAAA']) {
        expect((await expectRefusal(answerQuestion(first, owner, id, 'decline'))).code).toBe('not_found');
        expect((await expectRefusal(first.read(serviceOf(owner), id))).code).toBe('not_found');
        const response = { action: 'decline' } as const;
        const addressed = { caller: userOf(owner), id, response, surface: 'chat', conversationId: 'c' };
        expect((await expectRefusal(first.answer(addressed))).code).toBe('not_found');
        expect(await first.expire(id)).toEqual({ type: 'gone' });
      }
    });

    it('addressed by conversation must belong to that conversation', async () => {
      const { first } = contract;
      const owner = newOwner();
      const { row } = await askQuestion(first, owner, { conversationId: 'talk' });
      const answerIn = (conversationId: string) =>
        first.answer({
          caller: userOf(owner),
          id: row.id,
          response: { action: 'decline' },
          surface: 'chat',
          conversationId,
        });
      expect((await expectRefusal(answerIn('other'))).code).toBe('not_found');
      expect((await answerIn('talk')).row.status).toBe('declined');
    });
  });

  describe('a reply that was lost', () => {
    it('after the answer was recorded: the same answer sent again succeeds', async () => {
      const { first, pods } = contract;
      const owner = newStream();
      const { row } = await askQuestion(first, owner);
      const { elicitations } = pods.second;
      const losing = engineOn(pods.second, {
        elicitations: {
          ...elicitations,
          commit: async (...args) => {
            await elicitations.commit(...args);
            throw AWAY;
          },
        },
      });
      await expect(answerQuestion(losing, owner, row.id, 'accept', { colour: 'red' })).rejects.toBe(AWAY);
      expect((await answerQuestion(first, owner, row.id, 'accept', { colour: 'red' })).row.status).toBe(
        'accepted',
      );
      expect((await expectRefusal(answerQuestion(first, owner, row.id, 'decline'))).code).toBe(
        'already_settled',
      );
      expect(await readEntries(pods.backend.feed, owner)).toHaveLength(2);
    });

    it('of the store: the client sends the commit again, and the answer still succeeds', async () => {
      const { pods, first } = contract;
      const { elicitations } = pods.second;
      const twice = engineOn(pods.second, {
        elicitations: {
          ...elicitations,
          create: async (...args) => {
            await elicitations.create(...args);
            return elicitations.create(...args);
          },
          commit: async (...args) => {
            await elicitations.commit(...args);
            return elicitations.commit(...args);
          },
        },
      });
      for (const [action, content] of [
        ['accept', { colour: 'red' }],
        ['decline', undefined],
      ] as const) {
        const stream = newStream();
        const { row, replayed } = await askQuestion(twice, stream);
        expect(replayed).toBe(false);
        const taken = await answerQuestion(twice, stream, row.id, action, content);
        expect(taken.row).toEqual((await first.read(serviceOf(stream), row.id)).row);
        expect(taken.row.revision).toBe(2);
        expect(await readEntries(pods.backend.feed, stream)).toHaveLength(2);
      }
    });

    it('does not break completing and withdrawing', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const { row } = await askQuestion(first, owner, QUESTIONS['url, server completion']);
      const caller = serviceOf(owner);
      const done = await first.complete({ caller, id: row.id, surface: 'connect' });
      expect((await second.complete({ caller, id: row.id, surface: 'other' })).row).toEqual(done.row);
      const { row: other } = await askQuestion(first, owner);
      const taken = await first.withdraw({ caller, id: other.id, reason: 'superseded' });
      expect((await second.withdraw({ caller, id: other.id, reason: 'run_stopped' })).row).toEqual(taken.row);
      expect(taken.row.settlement).toEqual({ reason: 'superseded' });
    });
  });
}
