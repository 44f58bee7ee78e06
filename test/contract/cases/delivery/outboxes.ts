import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BUCKET_COUNT,
  bucketOf,
  formatOwnerPath,
  formatStreamPath,
  mintStreamRequestId,
  type Owner,
} from '@parley/core/domain/ids';
import { webhookTask } from '@parley/shared/delivery/deliver-webhook';
import { createDispatch, type Dispatch } from '@parley/shared/delivery/dispatch';
import type { DeliveryKind } from '@parley/shared/ports/delivery/kind';
import type {
  OutboxEntry,
  OutboxResult,
  OutboxSignal,
  OutboxTask,
} from '@parley/shared/ports/delivery/outbox';
import { resumeTask } from '@parley/shared/ports/runs/resume-task';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import {
  answerQuestion,
  askKind,
  askQuestion,
  newOwner,
  newStream,
  serviceOf,
} from '../../../harness/engines/questions.ts';
import { turnOf } from '../../../harness/engines/turn-writes.ts';
import { createGate } from '../../../harness/vault/gate.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

const ROOM = { 'resume-run': 100, webhook: 100 };

/** What tells other processes of tasks, in every slot. */
export function announcingContract(contract: Contract): void {
  it('a task is announced to other processes when it is noted, put off or noted again', async () => {
    const { backend, second } = contract.pods;
    const seen: OutboxSignal[] = [];
    const end = second.outbox.watch((signal) => seen.push(signal));
    const kinds = ['resume-run', 'webhook'];
    const task = webhookTask(`el_${randomUUID()}`, bucketOf(newOwner()));
    const { bucket } = task;
    const announced = async (inMs: number, what: string) => {
      await waitUntil(
        () => seen.some((one) => one.type === 'due' && one.bucket === bucket && one.inMs === inMs),
        { what },
      );
      seen.length = 0;
    };
    const take = async () =>
      (await backend.outbox.take(bucket, ROOM, 40_000)).find((one) => one.task.subject === task.subject);
    // Where messages cross a connection, none is promised before the first resync.
    if (contract.hasLine)
      await waitUntil(() => seen.filter(({ type }) => type === 'resync').length >= BUCKET_COUNT, {
        what: 'the subscription',
      });
    seen.length = 0;
    await backend.outbox.add(task);
    await announced(0, 'the task');
    expect(await second.outbox.nextInMs(bucket, kinds)).toBe(0);
    expect(await second.outbox.find(task)).toEqual({ dueInMs: 0, attempts: 0, isLeased: false });
    const occupied = async (of: readonly string[]) => (await Promise.all(second.outbox.occupied(of))).flat();
    expect(await occupied(kinds)).toContain(bucket);
    expect(await occupied(['none-of-these'])).toEqual([]);
    const entry = await take();
    if (entry === undefined) throw new Error('The task was not handed out.');
    expect(await second.outbox.find(task)).toMatchObject({ attempts: 0, isLeased: true });
    const lentMs = (await second.outbox.nextInMs(bucket, kinds)) ?? 0;
    expect([lentMs > 0, lentMs <= 40_000]).toEqual([true, true]);
    await backend.outbox.again(entry, 70_000);
    await announced(70_000, 'the time of the next attempt');
    expect(await second.outbox.find(task)).toMatchObject({ attempts: 1, isLeased: false });
    await backend.outbox.remove(task);
    expect(await second.outbox.nextInMs(bucket, kinds)).toBeUndefined();
    expect(await second.outbox.find(task)).toBeUndefined();
    end();
  });

  it('the buckets with deadlines are known', async () => {
    const { backend, second } = contract.pods;
    const owner = newOwner();
    await askQuestion(engineOn(backend), owner);
    expect((await Promise.all(second.elicitations.occupied())).flat()).toContain(bucketOf(owner));
  });
}

/** What a backend keeps of the tasks that must follow a commit, and delivery kinds that are registered on it. */
export function outboxContract(contract: Contract): void {
  const dispatched = async (dispatch: Dispatch) => {
    await dispatch.round();
    await dispatch.idle();
  };

  describe('a delivery kind of its own', () => {
    /** Registers a kind that sends a letter for each status that an elicitation gets. */
    function letters(immediate: boolean) {
      const sent: string[] = [];
      const kind: DeliveryKind = {
        name: 'letter',
        places: 2,
        immediate,
        taskOn: ({ id, definition, status }) => ({
          kind: 'letter',
          subject: `${id}/${status}`,
          bucket: bucketOf(definition),
        }),
        async handle({ subject }, attempt) {
          sent.push(`${subject} ${attempt}`);
          return 'done';
        },
      };
      const { outbox } = contract.pods.backend;
      const dispatch = createDispatch({ outbox, kinds: [kind], onFault: () => undefined });
      return { sent, dispatch };
    }

    it('gets a task from the commit that asks and from the commit that ends', async () => {
      const { sent, dispatch } = letters(false);
      const engine = engineOn(contract.pods.backend, { deliveries: dispatch });
      const owner = newOwner();
      const { id } = (await askQuestion(engine, owner)).row;
      await dispatched(dispatch);
      expect(sent).toEqual([`${id}/pending 1`]);
      await answerQuestion(engine, owner, id, 'decline');
      await dispatched(dispatch);
      expect(sent).toEqual([`${id}/pending 1`, `${id}/declined 1`]);
      await dispatched(dispatch);
      expect(sent).toHaveLength(2);
    });

    it('is handled at once by the process that added the task, where it is immediate', async () => {
      const { sent, dispatch } = letters(true);
      const { id } = (
        await askQuestion(engineOn(contract.pods.backend, { deliveries: dispatch }), newOwner())
      ).row;
      await dispatch.idle();
      expect(sent).toEqual([`${id}/pending 1`]);
    });

    it('is handled only by processes that have it registered', async () => {
      const { sent, dispatch } = letters(false);
      const { backend } = contract.pods;
      const { id } = (await askQuestion(engineOn(backend, { deliveries: dispatch }), newOwner())).row;
      await dispatched(createDispatch({ outbox: backend.outbox, kinds: [], onFault: () => undefined }));
      expect(await dispatch.lagMs()).toBeGreaterThanOrEqual(0);
      await dispatched(dispatch);
      expect(sent).toEqual([`${id}/pending 1`]);
    });
  });

  describe('a delivery kind that follows a turn', () => {
    const HOUR_MS = 3_600_000;

    /** Whether a task is about this owner's turn or one of its questions. Other owners share their bucket. */
    async function isOf(owner: Owner, subject: string): Promise<boolean> {
      if (subject.startsWith(`${formatOwnerPath(owner)}/`)) return true;
      return contract.first.read({ kind: 'user', ...owner }, subject).then(
        () => true,
        () => false,
      );
    }

    /** The tasks of the kind that the pods note for this owner's turn, each handed out once. */
    async function taken(owner: Owner): Promise<string[]> {
      const { outbox } = contract.pods.second;
      const entries = await outbox.take(bucketOf(owner), { slack: 100 }, 0);
      const subjects: string[] = [];
      for (const entry of entries) {
        if (!(await isOf(owner, entry.task.subject))) continue;
        await outbox.done(entry);
        subjects.push(entry.task.subject);
      }
      return subjects.sort();
    }

    async function begun() {
      const owner = newOwner();
      const turn = turnOf(owner);
      await contract.pods.backend.runs.begin(turn);
      return { owner, turn, stream: { ...owner, streamRequestId: turn.streamRequestId } };
    }

    it('gets a task when a question of the turn is asked, opened and ended, and when the turn ends', async () => {
      const { first, second } = contract;
      const { owner, turn, stream } = await begun();
      const { id: before } = (await askKind(first, stream, 'form')).row;
      // Subscribed on another pod, while the turn runs.
      await contract.pods.second.subscriptions.add(stream, 'slack', HOUR_MS);
      await contract.pods.second.subscriptions.add(stream, 'slack', HOUR_MS);
      expect(await contract.pods.backend.subscriptions.of(stream)).toEqual(['slack']);
      expect(await taken(owner)).toEqual([]);
      const { id } = (await askKind(first, stream, 'url, server completion')).row;
      expect(await taken(owner)).toEqual([id]);
      await answerQuestion(second, owner, id, 'accept');
      expect(await taken(owner)).toEqual([id]);
      await first.complete({ caller: serviceOf(owner), id, surface: 'test' });
      await answerQuestion(second, owner, before, 'decline');
      expect(await taken(owner)).toEqual([id, before].sort());
      const end = { status: 'finished', messages: [] } as const;
      await contract.pods.backend.runs.write(turn, { term: 1, firstSeq: 2, events: [], end });
      expect(await taken(owner)).toEqual([formatStreamPath(stream)]);
    });

    it('gets nothing of other turns, of questions outside of turns, and after its subscription', async () => {
      const { backend } = contract.pods;
      const { owner, stream } = await begun();
      const other = { ...owner, streamRequestId: mintStreamRequestId() };
      await backend.subscriptions.add(stream, 'slack', HOUR_MS);
      await askQuestion(contract.first, owner);
      await askKind(contract.first, other, 'form');
      await backend.subscriptions.remove(stream, 'slack');
      await askKind(contract.first, stream, 'form');
      expect(await taken(owner)).toEqual([]);
    });

    it('is handled at once by the process of the commit, where it is immediate', async () => {
      const { stream } = await begun();
      await contract.pods.second.subscriptions.add(stream, 'slack', HOUR_MS);
      const handled: string[] = [];
      const follower: DeliveryKind = {
        name: 'slack',
        places: 2,
        immediate: true,
        async handle({ subject }) {
          handled.push(subject);
          return 'done';
        },
      };
      const { outbox } = contract.pods.backend;
      const dispatch = createDispatch({ outbox, kinds: [follower], onFault: () => undefined });
      const engine = engineOn(contract.pods.backend, { deliveries: dispatch });
      const { id } = (await askKind(engine, stream, 'form')).row;
      await dispatch.idle();
      expect(handled).toEqual([id]);
      await answerQuestion(engine, stream, id, 'decline');
      await dispatch.idle();
      expect(handled).toEqual([id, id]);
    });

    it.each<[string, boolean, OutboxResult, number]>([
      ['is handled once more at once when it is done, where it is immediate', true, 'done', 2],
      ['is left to the next round where its kind is not immediate', false, 'done', 1],
      ['is left to the next round where it could not be handled', true, { deferInMs: HOUR_MS }, 1],
      ['is left to the next round where its attempt failed', true, { retryInMs: HOUR_MS }, 1],
    ])('noted by others during its lease %s', async (_, immediate, result, times) => {
      const { backend, second } = contract.pods;
      const { owner, stream } = await begun();
      await second.subscriptions.add(stream, 'a2a-push', HOUR_MS);
      const handled: string[] = [];
      const held = createGate();
      const kind: DeliveryKind = {
        name: 'a2a-push',
        places: 2,
        immediate,
        async handle({ subject }) {
          handled.push(subject);
          await held.opened;
          return result;
        },
      };
      const dispatch = createDispatch({ outbox: backend.outbox, kinds: [kind], onFault: () => undefined });
      const { id } = (await askKind(contract.first, stream, 'url, server completion')).row;
      expect(await dispatch.round()).toBe(1);
      // The second pod does not have the kind.
      await answerQuestion(contract.second, owner, id, 'accept');
      await contract.second.complete({ caller: serviceOf(owner), id, surface: 'test' });
      expect(handled).toEqual([id]);
      held.open();
      await dispatch.idle();
      expect(handled).toEqual(Array(times).fill(id));
      const left = await second.outbox.take(bucketOf(owner), { 'a2a-push': 100 }, 0);
      expect(left.map(({ task }) => task.subject)).toEqual(times === 1 ? [id] : []);
      await Promise.all(left.map((entry) => second.outbox.done(entry)));
    });
  });

  describe('the outbox', () => {
    const task = (): OutboxTask => resumeTask(newStream(), 2);
    const takenOf = async (one: OutboxTask, leaseMs: number) => {
      const entries = await contract.pods.second.outbox.take(one.bucket, ROOM, leaseMs);
      return entries.find(({ task }) => task.subject === one.subject);
    };
    const taken = async (one: OutboxTask) => {
      const entry = await takenOf(one, 600_000);
      if (entry === undefined) throw new Error('It was not handed out.');
      return entry;
    };

    it('hands a task out until it is done, and counts the attempts', async () => {
      const { outbox } = contract.pods.backend;
      const one = task();
      await outbox.add(one);
      // The process that had it first died.
      expect(await takenOf(one, 0)).toMatchObject({ attempt: 1 });
      const second = await taken(one);
      expect(second.attempt).toBe(1);
      expect(await takenOf(one, 0)).toBeUndefined();
      await outbox.again(second, 0);
      // The same report sent again.
      await outbox.again(second, 0);
      const third = await taken(one);
      expect(third.attempt).toBe(2);
      await outbox.giveBack(third, 0);
      const fourth = await taken(one);
      expect(fourth.attempt).toBe(2);
      await outbox.done(fourth);
      await outbox.again(fourth, 0);
      expect(await takenOf(one, 0)).toBeUndefined();
    });

    it('waits with a task that is noted during a lease until that one has ended, and then hands it out once', async () => {
      const { outbox } = contract.pods.backend;
      const one = task();
      const reports = [
        (entry: OutboxEntry) => outbox.done(entry),
        (entry: OutboxEntry) => outbox.again(entry, 600_000),
        (entry: OutboxEntry) => outbox.giveBack(entry, 600_000),
      ];
      await outbox.add(one);
      for (const report of reports) {
        const entry = await taken(one);
        await outbox.add(one);
        await outbox.add(one);
        expect(await takenOf(one, 0)).toBeUndefined();
        expect(await outbox.takeOne(one, 0)).toBeUndefined();
        await report(entry);
        // The same report sent again.
        await report(entry);
      }
      const last = await taken(one);
      expect(last.attempt).toBe(1);
      await outbox.done(last);
      expect(await takenOf(one, 0)).toBeUndefined();
    });

    it('says whether what is done was noted in the meantime', async () => {
      const { outbox } = contract.pods.backend;
      const one = task();
      await outbox.add(one);
      const noted = await taken(one);
      await outbox.add(one);
      expect(await outbox.done(noted)).toBe(true);
      expect(await outbox.done(noted)).toBe(false);
      const quiet = await taken(one);
      expect(await outbox.done(quiet)).toBe(false);
      await outbox.add(one);
      const removed = await taken(one);
      await outbox.add(one);
      await outbox.remove(one);
      expect(await outbox.done(removed)).toBe(false);
    });

    it('hands a task out anew when the lease lapses, once also where it was noted in between', async () => {
      const { outbox } = contract.pods.backend;
      const one = task();
      await outbox.add(one);
      await outbox.again(await taken(one), 0);
      const dead = await contract.pods.second.outbox.takeOne(one, 100);
      expect(dead).toMatchObject({ attempt: 2 });
      await outbox.add(one);
      const next = await waitUntil(() => outbox.takeOne(one, 600_000), { what: 'the lease to lapse' });
      expect(next.attempt).toBe(1);
      if (dead !== undefined) await outbox.done(dead);
      await outbox.done(next);
      expect(await takenOf(one, 0)).toBeUndefined();
    });

    it('hands a deferred task out at once when it is noted again', async () => {
      const { outbox } = contract.pods.backend;
      const one = task();
      await outbox.add(one);
      await outbox.giveBack(await taken(one), 600_000);
      expect(await outbox.takeOne(one, 600_000)).toBeUndefined();
      await outbox.add(one);
      await outbox.done(await taken(one));
    });

    it('never hands a task out twice at once, and always once more after it was noted, no matter who notes and takes', async () => {
      const { backend, second } = contract.pods;
      const one = task();
      let content = 0;
      let delivered = 0;
      let underWay = 0;
      let most = 0;
      const kind: DeliveryKind = {
        name: one.kind,
        places: 3,
        immediate: true,
        async handle({ subject }) {
          if (subject !== one.subject) return 'done';
          underWay += 1;
          most = Math.max(most, underWay);
          const read = content;
          await sleep(Math.random() * 4);
          delivered = Math.max(delivered, read);
          underWay -= 1;
          return Math.random() < 0.5 ? 'done' : { deferInMs: 600_000 };
        },
      };
      const dispatches = [backend, second].map(({ outbox }) =>
        createDispatch({ outbox, kinds: [kind], onFault: () => undefined }),
      );
      for (let round = 0; round < 20; round += 1) {
        for (const dispatch of dispatches) {
          const { outbox } = dispatch === dispatches[0] ? backend : second;
          content += 1;
          await outbox.add(one);
          void dispatch.now(one);
        }
        await sleep(Math.random() * 4);
      }
      await waitUntil(
        async () => {
          await Promise.all(dispatches.map((dispatch) => dispatch.now(one)));
          return delivered === content;
        },
        { what: 'the newest content' },
      );
      await Promise.all(dispatches.map((dispatch) => dispatch.idle()));
      expect(most).toBe(1);
      await backend.outbox.remove(one);
    });

    it('does not let a process complete a task that was handed to another since, or added again', async () => {
      const { outbox } = contract.pods.backend;
      const one = task();
      await outbox.add(one);
      const slow = await takenOf(one, 0);
      const fast = await taken(one);
      if (slow !== undefined) await outbox.done(slow);
      await outbox.again(fast, 0);
      const last = await taken(one);
      expect(last.attempt).toBe(2);
      // As a redrive does while the last attempt is not yet over.
      await outbox.add(one);
      await outbox.done(last);
      const anew = await taken(one);
      expect(anew.attempt).toBe(1);
      // A lease after a new addition has another receipt than any lease before it.
      if (slow !== undefined) await outbox.done(slow);
      await outbox.done(anew);
      await outbox.add(one);
      const third = await taken(one);
      for (const old of [slow, anew]) if (old !== undefined) await outbox.done(old);
      await outbox.again(third, 0);
      const fourth = await taken(one);
      expect(fourth.attempt).toBe(2);
      await outbox.done(fourth);
      expect(await takenOf(one, 0)).toBeUndefined();
    });

    it('gives out no more tasks of each kind than there are free places', async () => {
      const { outbox } = contract.pods.backend;
      const one = task();
      const { bucket } = one;
      const webhooks = Array.from({ length: 3 }, (_, index) => webhookTask(`el_${index}`, bucket));
      for (const each of [...webhooks, one]) await outbox.add(each);
      for (const none of [0, -3])
        expect(await outbox.take(bucket, { 'resume-run': none, webhook: none }, 0)).toEqual([]);
      const two = await outbox.take(bucket, { 'resume-run': 0, webhook: 2 }, 600_000);
      expect(two.map((entry) => entry.task.kind)).toEqual(['webhook', 'webhook']);
      const rest = await outbox.take(bucket, { 'resume-run': 0, webhook: 100 }, 600_000);
      const all = [...two, ...rest];
      expect(all.map((entry) => entry.task)).toEqual(expect.arrayContaining(webhooks));
      expect(all.every((entry) => entry.task.kind === 'webhook')).toBe(true);
      for (const entry of all) await outbox.done(entry);
      await outbox.done(await taken(one));
    });

    it('reports how long the oldest task not yet begun has been due', async () => {
      const { backend, second } = contract.pods;
      // No other test has tasks of this kind.
      const one: OutboxTask = { ...task(), kind: 'late-letter' };
      const lag = () => second.outbox.lagMs([one.kind]);
      await backend.outbox.add(one);
      await waitUntil(async () => (await lag()) > 1_000, { what: 'it to be late' });
      const [entry] = await second.outbox.take(one.bucket, { [one.kind]: 1 }, 600_000);
      if (entry === undefined) throw new Error('It was not handed out.');
      expect(await lag()).toBe(0);
      await backend.outbox.again(entry, 600_000);
      expect(await lag()).toBe(0);
      await backend.outbox.done({ ...entry, attempt: 2 });
    });
  });
}
