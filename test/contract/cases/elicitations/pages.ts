import type { Status } from '@parley/core/domain/elicitations/status';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { PageRequest } from '@parley/shared/ports/elicitations/elicitations';
import { withdrawOfTurn } from '@parley/shared/runs/open-questions';
import { describe, expect, it } from 'vitest';
import type { Contract } from '../../../harness/engines/contract.ts';
import { engineOn } from '../../../harness/engines/engines.ts';
import {
  answerQuestion,
  askQuestion,
  newOwner,
  QUESTIONS,
  send,
  serviceOf,
} from '../../../harness/engines/questions.ts';

/** Walks a list to its end. */
async function walk(engine: Engine, request: PageRequest): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await engine.list({ ...request, ...(cursor !== undefined && { cursor }) });
    expect(page.rows.length).toBeLessThanOrEqual(request.limit);
    expect(Number.isSafeInteger(page.now)).toBe(true);
    rows.push(...page.rows);
    if (page.nextCursor === undefined) return rows;
    cursor = page.nextCursor;
  }
  throw new Error('The list has no end.');
}

function inOrder(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

/** Listing what one person was asked. */
export function pageContract(contract: Contract): void {
  describe('a list', () => {
    it('is empty where no question was asked, and carries the current time', async () => {
      const before = (await askQuestion(contract.first, newOwner())).now;
      const page = await contract.second.list({ owner: newOwner(), limit: 10 });
      expect(page).toEqual({ rows: [], now: page.now });
      expect(page.now).toBeGreaterThanOrEqual(before);
      expect(page.now).toBeLessThan(before + 600_000);
    });

    it('of the open questions of a turn is withdrawn by the page: each page is one call, and each question one commit', async () => {
      const { first, second, pods } = contract;
      const stream = { ...newOwner(), streamRequestId: 'turn-1' };
      const ask = (streamRequestId: string, conversationId: string) =>
        askQuestion(first, { ...stream, streamRequestId }, { conversationId });
      const asked = await Promise.all(Array.from({ length: 230 }, () => ask('turn-1', 'talk')));
      const others = [await ask('turn-2', 'talk'), await ask('turn-3', 'other')];
      const calls = { page: 0, read: 0, commit: 0 };
      const { elicitations, records } = pods.second;
      const engine = engineOn(pods.second, {
        records: { ...records, openPage: (request) => count('page', () => records.openPage(request)) },
        elicitations: {
          ...elicitations,
          read: (id) => count('read', () => elicitations.read(id)),
          commit: (...args) => count('commit', () => elicitations.commit(...args)),
        },
      });
      function count<T>(name: keyof typeof calls, call: () => T): T {
        calls[name] += 1;
        return call();
      }
      await withdrawOfTurn(engine, { ...stream, conversationId: 'talk' });
      expect(calls).toEqual({ page: 2, read: 0, commit: 230 });
      const open = await walk(second, { owner: stream, statuses: ['pending'], limit: 50 });
      expect(idsOf(open).sort()).toEqual(others.map(({ row }) => row.id).sort());
      expect(asked).toHaveLength(230);
    });

    it('has pages of bounded size; one question that is larger has a page of its own', async () => {
      const { backend, second } = await contract.openWith({ pageBytesMax: 8_000 });
      const engine = engineOn(backend);
      const owner = newOwner();
      const sizes = [3_000, 3_000, 3_000, 9_900, 100, 100, 100, 3_000, 3_000];
      const asked: Row[] = [];
      for (const size of sizes) {
        const { row } = await askQuestion(engine, owner, { message: 'x'.repeat(size) });
        asked.push(row);
        if (size === 100) await answerQuestion(engine, owner, row.id, 'decline');
      }
      const sizesOf: number[] = [];
      const rows: Row[] = [];
      let cursor: string | undefined;
      do {
        const page = await second.elicitations.page({
          owner,
          limit: 100,
          ...(cursor !== undefined && { cursor }),
        });
        sizesOf.push(JSON.stringify(page.rows.map(({ definition }) => definition)).length);
        rows.push(...page.rows);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(idsOf(rows)).toEqual(idsOf(inOrder(asked)));
      expect(sizesOf.length).toBeGreaterThanOrEqual(4);
      expect(sizesOf.filter((size) => size > 8_500)).toHaveLength(1);
    });

    it('shows the newest first, and only the requested status', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const kind = 'url, server completion';
      const asked: Record<string, string> = {};
      for (const status of ['pending', 'opened', 'accepted', 'declined', 'cancelled', 'withdrawn']) {
        const { row } = await askQuestion(first, owner, {
          ...QUESTIONS[kind],
          conversationId: status.endsWith('ed') ? 'one' : 'two',
        });
        asked[status] = row.id;
      }
      await send(second, owner, asked.opened ?? '', kind, 'accept');
      await send(second, owner, asked.accepted ?? '', kind, 'complete');
      await send(second, owner, asked.declined ?? '', kind, 'decline');
      await send(second, owner, asked.cancelled ?? '', kind, 'cancel');
      await send(second, owner, asked.withdrawn ?? '', kind, 'withdraw');
      const all = await walk(first, { owner, limit: 10 });
      expect(idsOf(all)).toEqual(idsOf(inOrder(all)));
      expect(Object.fromEntries(all.map(({ status, id }) => [status, id]))).toEqual(asked);
      const only = async (request: Partial<PageRequest>) =>
        (await walk(second, { owner, limit: 2, ...request })).map(({ status }) => status).sort();
      for (const status of Object.keys(asked) as Status[])
        expect(await only({ statuses: [status] })).toEqual([status]);
      expect(await only({ statuses: ['pending', 'opened'] })).toEqual(['opened', 'pending']);
      expect(await only({ statuses: ['declined', 'pending'] })).toEqual(['declined', 'pending']);
      expect(await only({ statuses: ['expired'] })).toEqual([]);
      expect(await only({ conversationId: 'one' })).toEqual(['accepted', 'cancelled', 'declined', 'opened']);
      expect(await only({ conversationId: 'two', statuses: ['pending'] })).toEqual(['pending']);
      expect(await only({ conversationId: 'three' })).toEqual([]);
    });

    it('is read to its end with each entry once, although many share a millisecond', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const asked = await Promise.all(
        Array.from({ length: 260 }, (_, at) =>
          askQuestion(at % 2 === 0 ? first : second, owner, { conversationId: `${at % 2}` }),
        ),
      );
      await Promise.all(
        asked
          .filter((_, at) => at % 3 === 0)
          .map(({ row }) => answerQuestion(second, owner, row.id, 'decline')),
      );
      const rows = asked.map(({ row }) => row);
      for (const limit of [7, 99, 100, 260, 500]) {
        expect(idsOf(await walk(first, { owner, limit }))).toEqual(idsOf(inOrder(rows)));
      }
      const open = rows.filter((_, at) => at % 3 !== 0);
      const even = rows.filter((_, at) => at % 2 === 0);
      expect(idsOf(await walk(second, { owner, limit: 40, statuses: ['pending'] }))).toEqual(
        idsOf(inOrder(open)),
      );
      expect(idsOf(await walk(second, { owner, limit: 40, conversationId: '0' }))).toEqual(
        idsOf(inOrder(even)),
      );
    });

    it('keeps its positions while questions are asked and answered between pages', async () => {
      const { first, second } = contract;
      const owner = newOwner();
      const asked = await Promise.all(Array.from({ length: 30 }, () => askQuestion(first, owner)));
      const expected = idsOf(inOrder(asked.map(({ row }) => row)));
      const seen: string[] = [];
      let cursor: string | undefined;
      for (let turn = expected.length - 1; turn >= 0 || cursor !== undefined; turn -= 1) {
        const page = await first.list({ owner, limit: 1, ...(cursor !== undefined && { cursor }) });
        seen.push(...idsOf(page.rows));
        cursor = page.nextCursor;
        const id = expected[turn];
        if (id !== undefined) await answerQuestion(second, owner, id, 'cancel');
        if (turn >= 0) await askQuestion(second, owner);
      }
      // What came in the meantime may show or not, by its place.
      expect(seen.filter((id) => expected.includes(id))).toEqual(expected);
      expect(new Set(seen).size).toBe(seen.length);
    });

    it.each([100, 200])('of exactly %i is complete, whatever the limit', async (count) => {
      const { first, second } = contract;
      const owner = newOwner();
      await Promise.all(Array.from({ length: count }, () => askQuestion(first, owner)));
      for (const limit of [count - 1, count, count + 1, 2 * count]) {
        expect(await walk(second, { owner, limit })).toHaveLength(count);
      }
    });

    it('keeps a limited number of ended ones, the newest; open ones stay, and every row can still be read', async () => {
      const pods = await contract.openWith({ historyPerUserMax: 3 });
      const [first, second] = [engineOn(pods.backend), engineOn(pods.second)];
      const owner = newOwner();
      const asked: Row[] = [];
      for (let count = 0; count < 8; count += 1) asked.push((await askQuestion(first, owner)).row);
      const sorted = inOrder(asked);
      const [newest, ...others] = sorted;
      const ended = others.slice(0, 6);
      for (const { id } of ended) await answerQuestion(second, owner, id, 'decline');
      const kept = [newest, ...ended.slice(0, 3), sorted.at(-1)];
      const listed = await walk(first, { owner, limit: 50 });
      expect(idsOf(listed)).toEqual(kept.map((row) => row?.id));
      for (const { id } of ended) {
        expect((await first.read(serviceOf(owner), id)).row.status).toBe('declined');
      }
    });
  });
}
