import type { Dispatch } from '@parley/shared/delivery/dispatch';
import { bucketOf, formatStreamPath } from '@parley/shared/domain/ids';
import { DETACHED, UNOWNED } from '@parley/shared/domain/runs/run';
import type { OutboxTask } from '@parley/shared/ports/delivery/outbox';
import { resumeTask } from '@parley/shared/ports/runs/resume-task';
import type { NewRun } from '@parley/shared/ports/runs/runs';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { dispatchOn, engineOn } from '../../../harness/engines/engines.ts';
import { answerQuestion, askQuestion, newStream, serviceOf } from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const ROOM = { 'resume-run': 100, webhook: 100 };

/** Runs that no pod holds, and how the end of their questions resumes them. */
export function detachingContract(contract: Contract): void {
  const newTurn = (stream = newStream()): NewRun => ({
    ...stream,
    conversationId: stream.streamRequestId,
    agent: 'helper',
    owner: 'pod-a',
    delivery: 'detach',
    support: { form: true, url: true },
    input: [{ role: 'user', content: 'Hello' }],
    event: {
      type: 'turn-started',
      conversationId: stream.streamRequestId,
      messageId: 'msg',
      agent: 'helper',
    },
  });

  /** Engines that handle nothing at once, as one that dies right after its commit. */
  const bare = () => {
    const { backend } = contract.pods;
    return engineOn(backend, { deliveries: { ...dispatchOn(backend), now: async () => undefined } });
  };

  async function asking(turn: NewRun, engine = bare()): Promise<string> {
    return (await askQuestion(engine, turn)).row.id;
  }

  /** Begins a run and detaches it for these questions. */
  async function detached(turn: NewRun, questions: readonly string[], runs: readonly string[] = []) {
    await contract.pods.backend.runs.begin(turn);
    return detach(turn, questions, runs);
  }

  function detach(turn: NewRun, questions: readonly string[], runs: readonly string[] = [], term = 1) {
    return contract.pods.backend.runs.write(turn, {
      term,
      firstSeq: 2,
      events: [{ type: 'turn-detached' }],
      detach: { questions, runs },
    });
  }

  const noted = async (turn: NewRun): Promise<readonly OutboxTask[]> => {
    const entries = await contract.pods.second.outbox.take(bucketOf(turn), ROOM, 0);
    return entries
      .map(({ task }) => task)
      .filter((task) => task.kind === 'resume-run' && task.subject === formatStreamPath(turn));
  };

  const dispatched = async (dispatch: Dispatch) => {
    await dispatch.round();
    await dispatch.idle();
  };

  const owned = async (owner: string) => {
    const found: string[] = [];
    for await (const { stream } of contract.pods.second.runs.ownedBy(new Set([owner])))
      found.push(stream.streamRequestId);
    return found;
  };

  describe('a detached run', () => {
    it('has no owner, is in no index, and fences its last owner', async () => {
      const turn = newTurn();
      expect(await detached(turn, [await asking(turn)])).toBe('written');
      const { runs } = contract.pods.second;
      expect(await runs.standing(turn)).toMatchObject({ status: 'running', owner: DETACHED, term: 2 });
      expect((await runs.read(turn)).run?.delivery).toBe('detach');
      expect(await owned('pod-a')).not.toContain(turn.streamRequestId);
      expect(await owned(DETACHED)).not.toContain(turn.streamRequestId);
      expect(await runs.write(turn, { term: 1, firstSeq: 3, events: [] })).toBe('fenced');
      expect(await noted(turn)).toEqual([]);
    });

    it('gets a resume task in the commit that ends its question, whatever the outcome', async () => {
      const engine = bare();
      for (const end of ['answer', 'withdraw'] as const) {
        const turn = newTurn();
        const id = await asking(turn);
        await detached(turn, [id]);
        if (end === 'answer') await answerQuestion(engine, turn, id, 'decline');
        else await engine.withdraw({ caller: serviceOf(turn), id, reason: 'superseded' });
        expect(await noted(turn)).toEqual([resumeTask(turn, 2)]);
      }
    });

    it('is marked in its conversation as detached, once it has ended', async () => {
      const { second } = contract.pods;
      const turn = newTurn();
      await detached(turn, [await asking(turn)]);
      expect(await second.runs.takeOver(turn, 2, 'pod-b')).toBe(3);
      const event = { type: 'turn-finished', reason: 'stop' } as const;
      const end = { status: 'finished', messages: [] } as const;
      expect(await second.runs.write(turn, { term: 3, firstSeq: 3, events: [event], end })).toBe('written');
      const { streamRequestId } = turn;
      expect(await second.conversations.read(turn)).toMatchObject({
        last: { streamRequestId, wasDetached: true },
      });
    });

    it('counts a take-over from a pod that had not released it, and no other change of owner', async () => {
      const { runs } = contract.pods.second;
      const turn = newTurn();
      await detached(turn, [await asking(turn)]);
      await runs.takeOver(turn, 2, UNOWNED);
      await runs.takeOver(turn, 3, 'pod-b');
      expect(await runs.standing(turn)).toMatchObject({ takeoverCount: 0 });
      await runs.takeOver(turn, 4, 'pod-c');
      expect(await runs.standing(turn)).toMatchObject({ takeoverCount: 1, term: 5 });
    });

    it('is not detached for a question that has ended, nor for a delegate that is not detached', async () => {
      const turn = newTurn();
      const engine = bare();
      const [open, ended] = [await asking(turn), await asking(turn)];
      await answerQuestion(engine, turn, ended, 'decline');
      expect(await detached(turn, [open, ended])).toBe('wait-ended');
      const other = newTurn(newStream(turn));
      await contract.pods.backend.runs.begin(other);
      expect(await detach(turn, [open], [other.streamRequestId])).toBe('wait-ended');
      expect(await contract.pods.second.runs.standing(turn)).toMatchObject({ owner: 'pod-a', term: 1 });
      expect(await detach(other, [open])).toBe('written');
      expect(await detach(turn, [open], [other.streamRequestId])).toBe('written');
    });

    it('is not detached after a stop was requested', async () => {
      const turn = newTurn();
      const id = await asking(turn);
      await contract.pods.backend.runs.begin(turn);
      await contract.pods.second.runs.stop(turn);
      expect(await detach(turn, [id])).toBe('wait-ended');
    });

    it('is handed to a pod once its question ends, with the run that waits for it', async () => {
      const { backend, second } = contract.pods;
      const boss = newTurn();
      const delegate: NewRun = {
        ...newTurn(newStream(boss)),
        parent: { streamRequestId: boss.streamRequestId, toolCallId: 'call' },
      };
      const id = await asking(delegate);
      await detached(delegate, [id]);
      await detached(boss, [], [delegate.streamRequestId]);
      const handed = new Set<string>();
      const consumer = second.runQueue.consume(async ({ streamRequestId }) => {
        handed.add(streamRequestId);
      });
      await answerQuestion(engineOn(backend), boss, id, 'decline');
      await waitUntil(() => handed.has(boss.streamRequestId) && handed.has(delegate.streamRequestId), {
        what: 'both runs',
      });
      expect(await second.runs.standing(boss)).toMatchObject({ owner: UNOWNED, term: 3 });
      expect(await second.runs.standing(delegate)).toMatchObject({ owner: UNOWNED, term: 3 });
      await consumer.close();
    });

    it('is resumed although the pod that ended its question died at once', async () => {
      const { second } = contract.pods;
      const turn = newTurn();
      const id = await asking(turn);
      await detached(turn, [id]);
      await answerQuestion(bare(), turn, id, 'decline');
      await dispatched(dispatchOn(second));
      expect(await second.runs.standing(turn)).toMatchObject({ owner: UNOWNED, term: 3 });
      expect(await noted(turn)).toEqual([]);
    });

    it('is not resumed by a question of an earlier wait', async () => {
      const { backend, second } = contract.pods;
      const turn = newTurn();
      const [first, other] = [await asking(turn), await asking(turn)];
      await detached(turn, [first, other]);
      await answerQuestion(bare(), turn, first, 'decline');
      await dispatched(dispatchOn(second));
      expect(await backend.runs.takeOver(turn, 3, 'pod-b')).toBe(4);
      await answerQuestion(bare(), turn, other, 'decline');
      await dispatched(dispatchOn(second));
      expect(await second.runs.standing(turn)).toMatchObject({ owner: 'pod-b', term: 4 });
    });
  });
}
