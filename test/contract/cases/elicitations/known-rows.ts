import { setTimeout as sleep } from 'node:timers/promises';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { transition } from '@parley/shared/domain/elicitations/transition';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Timers } from '@parley/shared/ports/timers';
import { describe, expect, it } from 'vitest';
import { decideAs, requestApproval } from '../../../harness/engines/approvals.ts';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import { expectRefusal } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askOnStream,
  askQuestion,
  askSomebody,
  newStream,
  QUESTIONS,
  send,
  serviceOf,
  userOf,
} from '../../../harness/engines/questions.ts';

const SERVER_URL = 'url, server completion';

/** The ways in which a pod shows a question that another pod has asked. */
const SHOWN: Readonly<Record<string, (engine: Engine, row: Row) => Promise<unknown>>> = {
  'by its id': (engine, { id, definition }) => engine.read(userOf(definition), id),
  'to a page that checks who may see it': (engine, { id }) => engine.shown.elicitations.read(id),
  'in a list': (engine, { definition: owner }) => engine.list({ owner, limit: 10 }),
  'in a list of what is open': (engine, { definition: owner }) => engine.openRecords({ owner, limit: 10 }),
  async 'in an inbox'(engine, { definition: owner }) {
    for await (const _snapshot of engine.watchInbox({ owner })) return;
  },
  async 'on its stream, also to a chat'(engine, { definition: stream }) {
    for await (const _event of await engine.watch({ stream, evenIfSilent: false })) return;
  },
  async 'in a replay of its stream'(engine, { definition: stream }) {
    for await (const _event of engine.replayItems(stream)) return;
  },
};

/** A pod moves the rows that it knows without a read, and what another pod did to them comes first. */
export function knownRowsContract(contract: Contract): void {
  /** An engine on the first pod that counts its reads of rows. */
  function openCounting(timers?: Timers) {
    const { elicitations, approvals } = contract.pods.backend;
    const reads: string[] = [];
    const engine = engineOn(contract.pods.backend, {
      ...(timers !== undefined && { timers }),
      approvals: {
        ...approvals,
        read: (id) => {
          reads.push(id);
          return approvals.read(id);
        },
      },
      elicitations: {
        ...elicitations,
        read: (id) => {
          reads.push(id);
          return elicitations.read(id);
        },
        readEach: (ids) => {
          reads.push(...ids);
          return elicitations.readEach(ids);
        },
      },
    });
    return { engine, reads };
  }

  describe('a row that the pod has written itself', () => {
    it('is not read before the person answers, opens, completes or withdraws it', async () => {
      const { engine, reads } = openCounting();
      const stream = newStream();
      const { row: one } = await askQuestion(engine, stream);
      await answerQuestion(engine, stream, one.id, 'accept', { colour: 'red' });
      const { row: two } = await askQuestion(engine, stream, QUESTIONS[SERVER_URL]);
      await send(engine, stream, two.id, SERVER_URL, 'accept');
      await send(engine, stream, two.id, SERVER_URL, 'complete');
      const { row: three } = await askQuestion(engine, stream);
      await engine.withdraw({ caller: serviceOf(stream), id: three.id, reason: 'superseded' });
      expect(reads).toEqual([]);
      for (const [id, status] of [
        [one.id, 'accepted'],
        [two.id, 'accepted'],
        [three.id, 'withdrawn'],
      ] as const) {
        expect((await contract.second.read(serviceOf(stream), id)).row.status).toBe(status);
      }
    });

    it('is not read at its deadline', async () => {
      const { engine, reads } = openCounting();
      const { stream, row } = await askOnStream(engine, { timeoutSeconds: 0.02 });
      // The pod counts from the reply to its ask: its clock is past the deadline then, however late that reply came.
      await sleep(100);
      expect((await engine.expireFired([row.id])).size).toBe(0);
      expect(reads).toEqual([]);
      expect((await contract.second.read(serviceOf(stream), row.id)).row.status).toBe('expired');
    });

    it('is read for an answer that is refused: the refusal shows what another pod did', async () => {
      const { engine, reads } = openCounting();
      const { second } = contract;
      const { owner, row } = await askSomebody(engine);
      const wrong = await expectRefusal(answerQuestion(engine, owner, row.id, 'accept', { colour: 7 }));
      expect(wrong.code).toBe('invalid_answer');
      await answerQuestion(second, owner, row.id, 'accept', { colour: 'red' });
      const late = await expectRefusal(answerQuestion(engine, owner, row.id, 'accept', { colour: 7 }));
      expect(late).toMatchObject({ code: 'already_settled', elicitation: { content: { colour: 'red' } } });
      expect(reads).toEqual([row.id, row.id]);
    });

    it('is not moved where it was created again in the meantime under the same id and with the same revision', async () => {
      const { first, pods } = contract;
      const { row, now } = await askSomebody(first);
      const decision = transition(row, { type: 'decline', surface: 'test' }, now);
      if (decision.type !== 'commit') throw new Error('The row cannot be declined.');
      const earlier = { ...row, createdAt: row.createdAt - 1 };
      const refused = await pods.second.elicitations.commit(earlier, decision.step);
      expect(refused).toMatchObject({ committed: false, row });
      expect(await pods.second.elicitations.commit(row, decision.step)).toMatchObject({ committed: true });
    });

    it('is not moved once it has ended, even with the revision that it had before Redis lost a commit', async () => {
      const { first, pods } = contract;
      const { owner, row, now } = await askSomebody(first);
      await answerQuestion(contract.second, owner, row.id, 'accept', { colour: 'red' });
      // This pod has seen it opened, which is lost: the answer took that revision.
      const opened = { ...row, status: 'opened', revision: row.revision + 1 } as const;
      const decision = transition(opened, { type: 'decline', surface: 'test' }, now);
      if (decision.type !== 'commit') throw new Error('The row cannot be declined.');
      const refused = await pods.second.elicitations.commit(opened, decision.step);
      expect(refused).toMatchObject({
        committed: false,
        row: { status: 'accepted', revision: opened.revision },
      });
    });

    it('is known no more once the pod learns that it has ended elsewhere', async () => {
      const cancelled: string[] = [];
      const { engine, reads } = openCounting({
        schedule: () => undefined,
        cancel: (id) => void cancelled.push(id),
      });
      const { owner, row } = await askSomebody(engine);
      const waited = engine.wait({ caller: serviceOf(owner), id: row.id });
      await answerQuestion(contract.second, owner, row.id, 'decline');
      await waited;
      expect(cancelled).toContain(row.id);
      const before = reads.length;
      await answerQuestion(engine, owner, row.id, 'decline');
      expect(reads.slice(before)).toEqual([row.id]);
    });
  });
  describe('a row that the pod has shown', () => {
    it.each(Object.keys(SHOWN))('%s is not read before its person answers it', async (way) => {
      const { engine, reads } = openCounting();
      const { owner, row } = await askSomebody(contract.second);
      await SHOWN[way]?.(engine, row);
      reads.length = 0;
      await answerQuestion(engine, owner, row.id, 'accept', { colour: 'red' });
      expect(reads).toEqual([]);
      expect((await contract.second.read(serviceOf(owner), row.id)).row.status).toBe('accepted');
    });

    it('is not read before its person decides on it, where it is a call to approve', async () => {
      const { engine, reads } = openCounting();
      const stream = newStream();
      const { row } = await requestApproval(contract.second, stream);
      for await (const _snapshot of engine.watchInbox({ owner: stream })) break;
      await decideAs(engine, stream, row.id, { decision: 'deny' });
      expect(reads).toEqual([]);
      const late = await expectRefusal(decideAs(contract.second, stream, row.id, { decision: 'approve' }));
      expect(late).toMatchObject({ code: 'already_settled', approval: { status: 'denied' } });
    });

    it('is refused with what another pod did to it since, which the commit brings', async () => {
      const { engine, reads } = openCounting();
      const { owner, row } = await askSomebody(contract.second);
      await engine.read(serviceOf(owner), row.id);
      await answerQuestion(contract.second, owner, row.id, 'accept', { colour: 'red' });
      reads.length = 0;
      const late = await expectRefusal(answerQuestion(engine, owner, row.id, 'accept', { colour: 'blue' }));
      expect(late).toMatchObject({ code: 'already_settled', elicitation: { content: { colour: 'red' } } });
      expect(reads).toEqual([]);
    });

    it('is read for a trial, which no commit follows: it is refused where another pod was faster', async () => {
      const { engine } = openCounting();
      const { owner, row } = await askSomebody(contract.second);
      await engine.read(serviceOf(owner), row.id);
      await answerQuestion(contract.second, owner, row.id, 'accept', { colour: 'red' });
      const response = { action: 'accept', content: { colour: 'blue' } } as const;
      const tried = engine.answer({
        caller: userOf(owner),
        id: row.id,
        response,
        surface: 'test',
        isTrial: true,
      });
      expect((await expectRefusal(tried)).code).toBe('already_settled');
    });

    it('is read before somebody else is refused, as if it were not known', async () => {
      const { engine, reads } = openCounting();
      const { owner, row } = await askSomebody(contract.second);
      await engine.read(userOf(owner), row.id);
      reads.length = 0;
      const stranger = { ...owner, userId: `not ${owner.userId}` };
      const refused = await expectRefusal(
        answerQuestion(engine, stranger, row.id, 'accept', { colour: 'red' }),
      );
      expect(refused.code).toBe('not_found');
      expect(reads).toEqual([row.id]);
    });
  });
}
