import type { Owner } from '@parley/core/domain/ids';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { InboxItem } from '@parley/shared/elicitations/inbox';
import type { Backend } from '@parley/shared/ports/backend';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { deafEngineOn, engineOn } from '../../../harness/engines/engines.ts';
import { type Reader, readAll } from '../../../harness/engines/observe.ts';
import {
  answerQuestion,
  askQuestion,
  askSomebody,
  newOwner,
  QUESTIONS,
  send,
  serviceOf,
} from '../../../harness/engines/questions.ts';
import { waitUntil } from '../../../harness/wait-until.ts';

function brief(item: InboxItem): string {
  if (item.type === 'snapshot') return `snapshot of ${item.elicitations.length}`;
  if (item.type === 'approval-change') return `${item.event} ${item.approval.status}`;
  return `${item.event} ${item.elicitation.status}`;
}

/** What waits for one person, from any pod. */
export function inboxContract(contract: Contract): void {
  function follow(engine: Engine, owner: Owner): Reader<InboxItem> {
    return readAll(engine.watchInbox({ owner, signal: contract.signal() }));
  }

  describe('an inbox', () => {
    it('delivers every change of its own user, made on any pod, and no other user’s', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const kind = 'url, server completion';
      const readers = [follow(first, owner), follow(second, owner)];
      const firstOfAll = (count: number) => Promise.all(readers.map((reader) => reader.first(count)));
      await firstOfAll(1);
      await askQuestion(second, { ...owner, userId: 'other' });
      const { row } = await askQuestion(first, owner, QUESTIONS[kind]);
      await firstOfAll(2);
      await send(second, owner, row.id, kind, 'accept');
      await firstOfAll(3);
      await send(first, owner, row.id, kind, 'complete');
      await firstOfAll(4);
      const { row: other } = await askQuestion(second, owner);
      await firstOfAll(5);
      await first.withdraw({ caller: serviceOf(owner), id: other.id, reason: 'superseded' });
      for (const items of await firstOfAll(6)) {
        expect(items.map(brief)).toEqual([
          'snapshot of 0',
          'elicitation-request pending',
          'elicitation-updated opened',
          'elicitation-resolved accepted',
          'elicitation-request pending',
          'elicitation-resolved withdrawn',
        ]);
      }
    });

    it('finds by polling every change whose wake was lost', async () => {
      const { first } = contract;
      const { owner, row } = await askSomebody(first);
      const reader = follow(deafEngineOn(contract.pods.second), owner);
      await reader.first(1);
      const { row: other } = await askQuestion(first, owner);
      await reader.first(2);
      await answerQuestion(first, owner, row.id, 'decline');
      await reader.first(3);
      await answerQuestion(first, owner, other.id, 'cancel');
      expect((await reader.first(4)).map(brief)).toEqual([
        'snapshot of 1',
        'elicitation-request pending',
        'elicitation-resolved declined',
        'elicitation-resolved cancelled',
      ]);
    });

    it.each([
      [200, ['snapshot of 200']],
      [201, ['snapshot of 200', 'snapshot of 1']],
    ])('of %i questions is delivered completely', async (count, parts) => {
      const { first, second } = contract;
      const owner = newOwner();
      await Promise.all(Array.from({ length: count }, () => askQuestion(first, owner)));
      expect((await follow(second, owner).first(parts.length)).map(brief)).toEqual(parts);
    });

    it('of large questions comes in parts of bounded size, each read when its reader has taken the one before', async () => {
      const { backend, second } = await contract.openWith({ pageBytesMax: 10_000 });
      const engine = engineOn(backend);
      const owner = newOwner();
      const ask = () => askQuestion(engine, owner, { message: 'x'.repeat(3_000) });
      const rows = [];
      for (let count = 0; count < 7; count += 1) rows.push((await ask()).row);
      // Oldest first, as lists order them.
      rows.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
      const asked = rows.map(({ id }) => id);
      let pages = 0;
      const counting: Backend = {
        ...second,
        records: {
          ...second.records,
          openPage(request) {
            pages += 1;
            return second.records.openPage(request);
          },
        },
      };
      const reader = engineOn(counting).watchInbox({ owner, signal: contract.signal() });
      const next = async () => (await reader.next()).value as InboxItem;
      const [part] = [await next()];
      expect(pages).toBe(1);
      expect(part).toMatchObject({ type: 'snapshot', part: 0, more: true });
      // In the meantime one that the reader has ends, one that it has not ends, and one is new.
      await answerQuestion(engine, owner, asked[6] ?? '', 'decline');
      await answerQuestion(engine, owner, asked[0] ?? '', 'decline');
      const { row: late } = await ask();
      const parts = [part];
      while (parts.at(-1)?.type === 'snapshot' && (parts.at(-1) as { more: boolean }).more)
        parts.push(await next());
      const listed = parts.flatMap((item) => {
        if (item?.type !== 'snapshot') throw new Error('A change came within the snapshot.');
        expect(JSON.stringify(item).length).toBeLessThan(12_000);
        return item.elicitations.map(({ elicitationId }) => elicitationId);
      });
      expect(parts.map((item) => item?.type === 'snapshot' && item.part)).toEqual(parts.map((_, at) => at));
      expect(listed).toEqual(asked.slice(1).reverse());
      const changes = [await next(), await next()];
      expect(
        changes.map((item) => item.type === 'change' && [item.elicitation.elicitationId, item.event]),
      ).toEqual(
        expect.arrayContaining([
          [asked[6], 'elicitation-resolved'],
          [late.id, 'elicitation-request'],
        ]),
      );
    });

    it('has what came while its wakes were missed as soon as its subscription is back', async () => {
      const { first, pods } = contract;
      const owner = newOwner();
      let resync: () => void = () => undefined;
      const inboxWakes: Backend['inboxWakes'] = {
        publish: async () => undefined,
        subscribe(_, listener) {
          resync = () => listener({ type: 'resync' });
          return { unsubscribe: () => undefined };
        },
      };
      const reader = follow(engineOn(pods.second, { inboxWakes }), owner);
      await reader.first(1);
      const { row } = await askQuestion(first, owner);
      resync();
      await reader.first(2);
      await answerQuestion(first, owner, row.id, 'decline');
      resync();
      expect((await reader.first(3)).map(brief)).toEqual([
        'snapshot of 0',
        'elicitation-request pending',
        'elicitation-resolved declined',
      ]);
    });

    it('is released when its reader disconnects', async () => {
      const stop = new AbortController();
      const reader = readAll(contract.second.watchInbox({ owner: newOwner(), signal: stop.signal }));
      await reader.first(1);
      const reason = new Error('gone');
      stop.abort(reason);
      expect(await reader.ended()).toBe(reason);
    });

    const { lose } = contract;
    // A store that ends with its process cannot lose what it holds and continue.
    if (lose === undefined) return;

    it('delivers the end of a question whose row was set back, although its reader got that revision before', async () => {
      const { first, second, pods } = contract;
      const owner = newOwner();
      const kind = 'url, server completion';
      const { row } = await askQuestion(first, owner, QUESTIONS[kind]);
      const reader = follow(second, owner);
      await reader.first(1);
      await send(first, owner, row.id, kind, 'accept');
      await reader.first(2);
      // The same question at its first revision, as after a failover to a replica that was behind.
      await lose();
      await pods.backend.elicitations.create(row.id, row.definition);
      await answerQuestion(first, owner, row.id, 'decline');
      await waitUntil(() => reader.seen.map(brief).at(-1) === 'elicitation-resolved declined', {
        what: 'the end of the question',
      });
    });

    it('begins again with a snapshot when a question of its reader is lost', async () => {
      const { first, pods } = contract;
      const owner = newOwner();
      await askQuestion(first, owner);
      const reader = follow(deafEngineOn(pods.second), owner);
      await reader.first(1);
      await lose();
      expect((await reader.first(2)).map(brief)).toEqual(['snapshot of 1', 'snapshot of 0']);
      const { row } = await askQuestion(first, owner);
      await reader.first(3);
      await answerQuestion(first, owner, row.id, 'decline');
      expect((await reader.first(4)).slice(2).map(brief)).toEqual([
        'elicitation-request pending',
        'elicitation-resolved declined',
      ]);
    });
  });
}
