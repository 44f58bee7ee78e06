import type { Status } from '@parley/core/domain/elicitations/status';
import { toWire } from '@parley/shared/domain/elicitations/row';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { callOutcome, expectCode, readEntries } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askOnStream,
  askQuestion,
  askSomebody,
  newOwner,
  newStream,
  send,
  serviceOf,
  userOf,
} from '../../../harness/engines/questions.ts';

const AWAY = new Error('the reply was lost');

/** What an answer is, whose it is, and that a lost reply does no harm. */
export function answeringContract(contract: Contract): void {
  describe('an answer', () => {
    it('is recorded unchanged, and an equal one counts as the same answer', async () => {
      const { first, second } = contract;
      const { owner, row } = await askSomebody(first);
      const content = { note: `Zoë 🦜 \\ " \n {"a":1} \u2028\u0001\t ${'語'.repeat(9_000)}`, colour: 'red' };
      const taken = await answerQuestion(first, owner, row.id, 'accept', content);
      expect(taken.row).toMatchObject({
        status: 'accepted',
        settlement: { action: 'accept', content, surface: 'test' },
      });
      const again = await answerQuestion(second, owner, row.id, 'accept', {
        colour: 'red',
        note: content.note,
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

    it.each(['', '{"a":1}', '[]', 'null'])('keeps the text %j unchanged', async (note) => {
      const { first, second } = contract;
      const { owner, row } = await askSomebody(first);
      await answerQuestion(first, owner, row.id, 'accept', { colour: 'red', note });
      const { settlement } = (await second.read(serviceOf(owner), row.id)).row;
      expect(settlement?.content).toEqual({ colour: 'red', note });
    });

    it('is accepted from the owner only; for other users the question does not exist', async () => {
      const { first } = contract;
      const { owner, row } = await askSomebody(first);
      const strangers = [{ ...owner, userId: 'other' }, { ...owner, tenant: newOwner().tenant }, newOwner()];
      for (const stranger of strangers) {
        await expectCode(answerQuestion(first, stranger, row.id, 'decline'), 'not_found');
        await expectCode(first.read(userOf(stranger), row.id), 'not_found');
      }
      const elsewhere = serviceOf(newOwner());
      for (const call of [
        first.read(elsewhere, row.id),
        first.withdraw({ caller: elsewhere, id: row.id, reason: 'superseded' }),
        first.complete({ caller: elsewhere, id: row.id, surface: 'test' }),
        first.wait({ caller: elsewhere, id: row.id, timeoutMs: 1 }),
      ]) {
        await expectCode(call, 'not_found');
      }
      expect((await first.read(serviceOf(owner), row.id)).row).toEqual(row);
    });

    it('to a question that does not exist is refused', async () => {
      const { first } = contract;
      const { owner, row } = await askSomebody(first);
      const unknown = `${row.id.slice(0, -1)}${row.id.endsWith('A') ? 'B' : 'A'}`;
      for (const id of [unknown, '', 'el_', 'nonsense', `${row.id}\n`, 'el_99AAAAAAAAAAAAAAAAAAAAAA']) {
        await expectCode(answerQuestion(first, owner, id, 'decline'), 'not_found');
        await expectCode(first.read(serviceOf(owner), id), 'not_found');
        const response = { action: 'decline' } as const;
        const addressed = { caller: userOf(owner), id, response, surface: 'chat', conversationId: 'c' };
        await expectCode(first.answer(addressed), 'not_found');
        expect(await first.expire(id)).toEqual({ type: 'gone' });
      }
    });

    it('addressed by conversation must belong to that conversation', async () => {
      const { first } = contract;
      const { owner, row } = await askSomebody(first, { conversationId: 'talk' });
      const answerIn = (conversationId: string) =>
        first.answer({
          caller: userOf(owner),
          id: row.id,
          response: { action: 'decline' },
          surface: 'chat',
          conversationId,
        });
      await expectCode(answerIn('other'), 'not_found');
      expect((await answerIn('talk')).row.status).toBe('declined');
    });
  });

  it('an ending that only a newer build knows is passed on, wakes waiters, and is refused to be changed', async () => {
    const { first, second, pods } = contract;
    const { stream, row } = await askOnStream(first);
    const caller = serviceOf(stream);
    const waited = first.wait({ caller, id: row.id, timeoutMs: 20_000 });
    const status = 'approved' as Status;
    const event = { type: 'elicitation-resolved', elicitationId: row.id, revision: 2, status } as const;
    const commit = () =>
      pods.second.elicitations.commit(row, { status, settlement: {}, event, guard: 'open' });
    expect((await commit()).committed).toBe(true);
    expect((await waited).row.status).toBe(status);
    expect((await second.read(caller, row.id)).row).toMatchObject({ status, settledAt: expect.any(Number) });
    for (const command of ['accept', 'decline', 'withdraw'] as const) {
      expect(await callOutcome(send(second, stream, row.id, 'form', command)), command).toMatchObject({
        refusal: { code: 'already_settled' },
      });
    }
    expect(await second.expire(row.id)).toEqual({ type: 'ended' });
    expect((await second.list({ owner: stream, limit: 10 })).rows.map((each) => each.status)).toEqual([
      status,
    ]);
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
      await expectCode(answerQuestion(first, owner, row.id, 'decline'), 'already_settled');
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
        const { stream, row, replayed } = await askOnStream(twice);
        expect(replayed).toBe(false);
        const taken = await answerQuestion(twice, stream, row.id, action, content);
        expect(taken.row).toEqual((await first.read(serviceOf(stream), row.id)).row);
        expect(taken.row.revision).toBe(2);
        expect(await readEntries(pods.backend.feed, stream)).toHaveLength(2);
      }
    });
  });
}
