import { bucketOf, formatStreamPath } from '@parley/core/domain/ids';
import type { Dispatch } from '@parley/shared/delivery/dispatch';
import { DETACHED, UNOWNED } from '@parley/shared/domain/runs/run';
import type { OutboxTask } from '@parley/shared/ports/delivery/outbox';
import type { FeedBeginning } from '@parley/shared/ports/elicitations/feed';
import { resumeTask } from '@parley/shared/ports/runs/resume-task';
import type { NewRun } from '@parley/shared/ports/runs/runs';
import type { Waits } from '@parley/shared/runs/detach';
import { resumeIfMissed } from '@parley/shared/runs/resume';
import { describe, expect, it } from 'vitest';
import { requestApproval } from '../../../harness/engines/approvals.ts';
import type { Contract } from '../../../harness/engines/contract.ts';
import { dispatchOn, engineOn } from '../../../harness/engines/engines.ts';
import { readAll, readEntries } from '../../../harness/engines/observe.ts';
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
    return detach(turn, { questions, runs });
  }

  function detach(turn: NewRun, waits: Partial<Waits>, term = 1) {
    return contract.pods.backend.runs.write(turn, {
      term,
      firstSeq: 2,
      events: [{ type: 'turn-detached' }],
      detach: { questions: [], runs: [], ...waits },
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

  describe('a detached run', () => {
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

    it('is resumed after the time that it was detached for, with questions or without', async () => {
      const { backend } = contract.pods;
      for (const asks of [false, true]) {
        const turn = newTurn();
        const questions = asks ? [await asking(turn)] : [];
        await backend.runs.begin(turn);
        expect(await detach(turn, { questions, afterMs: 40 })).toBe('written');
        await waitUntil(async () => (await noted(turn)).length > 0, { what: 'the resume task' });
        expect(await noted(turn)).toEqual([resumeTask(turn, 2)]);
      }
    });

    it('is resumed when it is asked to stop', async () => {
      const turn = newTurn();
      await contract.pods.backend.runs.begin(turn);
      await detach(turn, { afterMs: 600_000 });
      expect(await noted(turn)).toEqual([]);
      expect(await contract.pods.second.runs.stop(turn)).toBe(true);
      expect(await noted(turn)).toEqual([resumeTask(turn, 2)]);
    });

    it('that rests is resumed by those who look at it only when its time has long been over', async () => {
      const { backend, second } = contract.pods;
      const deps = { engine: bare(), runs: second.runs, runQueue: second.runQueue };
      for (const [afterMs, owner] of [
        [600_000, DETACHED],
        [-600_000, UNOWNED],
      ] as const) {
        const turn = newTurn();
        await backend.runs.begin(turn);
        await detach(turn, { afterMs });
        expect(await resumeIfMissed(deps, turn, 2)).toBe(owner === DETACHED);
        expect(await second.runs.standing(turn)).toMatchObject({ owner });
      }
    });

    it.each([100, 3, 1])(
      'is read with its feed as it is without, also %i events of it',
      async (eventsMax) => {
        const { second } = contract.pods;
        const [engine, turn] = [bare(), newTurn()];
        expect(await second.runs.readWithFeed(turn, eventsMax)).toMatchObject({
          run: undefined,
          feed: { entries: [], isWhole: true },
        });
        await contract.pods.backend.runs.begin(turn);
        const [open, ended] = [await asking(turn), await asking(turn)];
        await answerQuestion(engine, turn, ended, 'decline');
        await requestApproval(engine, turn);
        await detach(turn, { questions: [open] });
        const { run, feed } = await second.runs.readWithFeed(turn, eventsMax);
        expect(run).toEqual((await second.runs.read(turn)).run);
        expect(feed).toMatchObject({
          entries: (await readEntries(second.feed, turn)).slice(0, eventsMax),
          isWhole: eventsMax === 100,
        });
        // A store without round trips reads no rows along.
        if (feed.isWhole) expect([0, 3]).toContain(feed.records.size);
        const joined = async (beginning?: FeedBeginning) => {
          const items = readAll(engineOn(second).replayItems(turn, beginning));
          expect(await items.ended()).toBe('done');
          return JSON.stringify(items.seen, (key, value) => (key === 'serverTime' ? undefined : value));
        };
        expect(await joined(feed)).toEqual(await joined());
      },
    );

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
