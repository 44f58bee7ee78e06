import { silentObserver } from '@parley/shared/observe/observer';
import type { Backend } from '@parley/shared/ports/backend';
import { BACKUP_DELAY_MS } from '@parley/shared/ports/elicitations/deadlines';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { deafBus, deafEngineOn, engineOn } from '../../../harness/engines/engines.ts';
import { expectCode, readAll } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askOnStream,
  askQuestion,
  askSomebody,
  newOwner,
  newStream,
  QUESTIONS,
  send,
  serviceOf,
  userOf,
} from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

/** An engine that notes how its waiters learnt of the end, and how often it has read. */
function notingEngine(backend: Backend) {
  const noted: { sources: string[]; reads: number } = { sources: [], reads: 0 };
  const { elicitations } = backend;
  const engine = engineOn(backend, {
    observer: { ...silentObserver, resumed: (_row, source) => void noted.sources.push(source) },
    elicitations: {
      ...elicitations,
      read: (id) => {
        noted.reads += 1;
        return elicitations.read(id);
      },
    },
  });
  return { engine, noted };
}

/** Sleeping on an elicitation. */
export function waitContract(contract: Contract): void {
  describe('a waiter', () => {
    it('that has just asked reads the row once, after it has subscribed', async () => {
      const { pods, second } = contract;
      const { engine, noted } = notingEngine(pods.backend);
      const stream = newStream();
      const asked = await askQuestion(engine, stream);
      const waiting = engine.wait({ caller: serviceOf(stream), id: asked.row.id, seen: asked });
      await waitUntil(() => noted.reads === 1, { what: 'the read', everyMs: 5 });
      await answerQuestion(second, stream, asked.row.id, 'decline');
      expect((await waiting).row.status).toBe('declined');
      expect(noted).toEqual({ sources: ['push'], reads: 1 });
      const other = { caller: serviceOf(newOwner()), id: asked.row.id, seen: asked };
      await expectCode(engine.wait(other), 'not_found');
    });

    it('and a reader disarm the timer of a question that another pod has ended', async () => {
      const { pods, second } = contract;
      const cancelled: string[] = [];
      const timers = { schedule: () => undefined, cancel: (id: string) => void cancelled.push(id) };
      const engine = engineOn(pods.backend, { timers });
      const owner = newOwner();
      const inbox = readAll(engine.watchInbox({ owner, signal: contract.signal() }));
      await inbox.first(1);
      const { row } = await askQuestion(engine, owner);
      await inbox.first(2);
      await answerQuestion(second, owner, row.id, 'decline');
      await inbox.first(3);
      expect(cancelled).toEqual([row.id]);
    });

    it.each([
      ['short', ['push']],
      // Too large to ride along with every wake.
      ['語'.repeat(5_000), ['push', 'read']],
    ])('is woken by the answer given on the other pod, and gets it complete', async (note, ways) => {
      const { pods, second } = contract;
      const { engine, noted } = notingEngine(pods.backend);
      const { stream, row } = await askOnStream(engine);
      const waiting = engine.wait({ caller: serviceOf(stream), id: row.id });
      // It reads, subscribes, and reads once more before it sleeps; and again after a gap in its subscription.
      await waitUntil(() => noted.reads >= 2, { what: 'the waiter to sleep', everyMs: 5 });
      const content = { colour: 'red', note };
      const given = await answerQuestion(second, stream, row.id, 'accept', content);
      const woken = await waiting;
      expect(woken.row).toEqual(given.row);
      expect(woken.row.settlement?.content).toEqual(content);
      expect(ways).toContain(noted.sources.join());
    });

    it('is woken by every outcome, and not by the opening of a page', async () => {
      const { first, second } = contract;
      const kind = 'url, server completion';
      for (const [column, status] of [
        ['decline', 'declined'],
        ['cancel', 'cancelled'],
        ['withdraw', 'withdrawn'],
        ['complete', 'accepted'],
      ] as const) {
        const { stream, row } = await askOnStream(first, QUESTIONS[kind]);
        const waiting = first.wait({ caller: userOf(stream), id: row.id });
        await send(second, stream, row.id, kind, 'accept');
        await send(second, stream, row.id, kind, column);
        expect((await waiting).row).toMatchObject({ id: row.id, status, revision: 3 });
      }
    });

    it('returns at once when the question has ended already, or its timeout is zero', async () => {
      const { first, second } = contract;
      const { owner, row } = await askSomebody(first);
      const caller = serviceOf(owner);
      expect((await second.wait({ caller, id: row.id, timeoutMs: 0 })).row).toEqual(row);
      const given = await answerQuestion(first, owner, row.id, 'decline');
      expect((await second.wait({ caller, id: row.id })).row).toEqual(given.row);
    });

    it('returns the open question at its timeout, and the next waiter may wait', async () => {
      const { first, second } = contract;
      const { owner, row } = await askSomebody(first);
      const caller = serviceOf(owner);
      const seen = await first.wait({ caller, id: row.id, timeoutMs: 60 });
      expect(seen.row).toEqual(row);
      expect(seen.now).toBeGreaterThan(row.createdAt);
      const waiting = second.wait({ caller, id: row.id });
      await answerQuestion(first, owner, row.id, 'cancel');
      expect((await waiting).row.status).toBe('cancelled');
    });

    it('returns an expired question soon after the deadline, without any other process, and leaves it to the timer of the pod that asked until then', async () => {
      const { first, second } = contract;
      const { stream, row } = await askOnStream(first, { timeoutSeconds: 0.25 });
      const caller = serviceOf(stream);
      const ends = await Promise.all([
        first.wait({ caller, id: row.id }),
        second.wait({ caller, id: row.id }),
        second.wait({ caller, id: row.id, timeoutMs: 20_000 }),
      ]);
      for (const { row: ended } of ends) {
        expect(ended).toMatchObject({ status: 'expired', settlement: {}, revision: 2 });
        // Both clocks count whole milliseconds.
        expect((ended.settledAt ?? 0) - ended.expiresAt).toBeGreaterThanOrEqual(BACKUP_DELAY_MS - 2);
        expect(ended.settledAt).toBeGreaterThanOrEqual(row.expiresAt);
      }
      expect(new Set(ends.map((end) => end.row.settledAt)).size).toBe(1);
    });

    it('shares one subscription with all waiters of its stream request, and learns of its own question', async () => {
      const { pods, second } = contract;
      const { wakes } = pods.backend;
      let subscribed = 0;
      const engine = engineOn(pods.backend, {
        wakes: {
          ...wakes,
          publish: (...args) => wakes.publish(...args),
          subscribe(...args) {
            subscribed += 1;
            return wakes.subscribe(...args);
          },
        },
      });
      const stream = newStream();
      const caller = serviceOf(stream);
      const rows = await Promise.all(
        Array.from({ length: 20 }, async () => (await askQuestion(second, stream)).row),
      );
      const waitOn = ({ id }: { readonly id: string }) => engine.wait({ caller, id });
      const waiting = rows.map((row) => [waitOn(row), waitOn(row)] as const);
      await Promise.all(rows.map(({ id }) => engine.wait({ caller, id, timeoutMs: 30 })));
      for (const [at, { id }] of rows.entries()) {
        const given = await answerQuestion(second, stream, id, 'accept', { colour: at % 2 ? 'red' : 'blue' });
        const [one, other, late] = await Promise.all([...(waiting[at] ?? []), waitOn({ id })]);
        expect([one?.row, other?.row, late?.row]).toEqual([given.row, given.row, given.row]);
      }
      expect(subscribed).toBe(1);
      const { row } = await askQuestion(second, stream);
      const again = waitOn(row);
      const { row: settled } = await answerQuestion(second, stream, row.id, 'decline');
      expect((await again).row).toEqual(settled);
      expect(subscribed).toBeLessThanOrEqual(2);
    });

    it('misses no answer, however close answer and wait are', async () => {
      const { first, second } = contract;
      await Promise.all(
        Array.from({ length: 60 }, async (_, at) => {
          const { stream, row } = await askOnStream(first);
          const answered = answerQuestion(second, stream, row.id, 'decline');
          if (at % 3 === 0) await Promise.resolve();
          const woken = await first.wait({ caller: serviceOf(stream), id: row.id });
          expect(woken.row).toEqual((await answered).row);
        }),
      );
    });

    it('finds by polling an answer whose wake was lost', async () => {
      const { first, pods } = contract;
      const { owner, row } = await askSomebody(first);
      const waiting = deafEngineOn(pods.second).wait({ caller: serviceOf(owner), id: row.id });
      const given = await answerQuestion(first, owner, row.id, 'accept', { colour: 'red' });
      expect((await waiting).row).toEqual(given.row);
    });

    it('rejects with the reason of its signal, even when that was aborted first', async () => {
      const { first } = contract;
      const { owner, row } = await askSomebody(first);
      const stop = new AbortController();
      const reason = new Error('gone');
      const request = { caller: serviceOf(owner), id: row.id, signal: stop.signal };
      const waiting = first.wait(request);
      stop.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await expect(first.wait(request)).rejects.toBe(reason);
      const unheard = engineOn(contract.pods.backend, { wakes: deafBus() });
      await expect(unheard.wait(request)).rejects.toBe(reason);
    });
  });
}
