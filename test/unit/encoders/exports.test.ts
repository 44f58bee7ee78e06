import { once } from 'node:events';
import { ParleyError } from '@parley/core/domain/errors';
import { describe, expect, it } from 'vitest';
import { createListReplies, type ExportedList } from '../../../services/api/src/surfaces/admin/exports.ts';

const caller = { kind: 'service', tenant: 'acme', keyId: 'ops' } as const;

/** A list without an end, and how many of its pages were read. */
function endless(rowsOfPage = 100) {
  const read: (string | undefined)[] = [];
  const list: ExportedList = {
    name: 'things',
    columns: ['id', 'note'],
    async page(cursor) {
      read.push(cursor);
      const from = Number(cursor ?? 0);
      const views = Array.from({ length: rowsOfPage }, (_, at) => ({ id: from + at, note: '=1', more: 'x' }));
      return { views, nextCursor: String(from + rowsOfPage) };
    },
  };
  return { list, read };
}

const free = async () => undefined;
const replies = createListReplies(free);
const exporting = (
  list: ExportedList,
  request = {},
  accept?: string,
  signal = new AbortController().signal,
) => replies({ caller, signal, header: () => accept }, { limit: 50, ...request }, list);

async function linesOf(reply: Awaited<ReturnType<typeof exporting>>): Promise<string[]> {
  if (reply.type !== 'pieces') throw new Error('It is no export.');
  let text = '';
  for (let next = await reply.pieces.next(); next.done !== true; next = await reply.pieces.next())
    text += next.value;
  await reply.pieces.return?.();
  return text.split(/\r?\n/).slice(0, -1);
}

describe('an export', () => {
  it('ends with a cursor behind its 10,000 rows, in both formats', async () => {
    const csv = await linesOf(await exporting(endless().list, { format: 'csv' }));
    expect(csv).toHaveLength(1 + 10_000 + 1);
    expect([csv[0], csv[1], csv.at(-1)]).toEqual(['id,note', "0,'=1", 'nextCursor,10000']);
    const lines = await linesOf(await exporting(endless().list, { format: 'jsonl', cursor: '500' }));
    expect(lines).toHaveLength(10_000 + 1);
    expect([lines[0], lines.at(-1)]).toEqual(['{"id":500,"note":"=1","more":"x"}', '{"nextCursor":"10500"}']);
  });

  it('ends with a cursor where few rows match, and without one at the end of the list', async () => {
    const { list, read } = endless(0);
    expect(await linesOf(await exporting(list, { format: 'jsonl' }))).toEqual(['{"nextCursor":"0"}']);
    expect(read).toHaveLength(1_000);
    const whole: ExportedList = { ...list, page: async () => ({ views: [{ id: 1 }] }) };
    expect(await linesOf(await exporting(whole, { format: 'csv' }))).toEqual(['id,note', '1,']);
  });

  it('reads a page when the one before was sent, and none once its reader has gone', async () => {
    const { list, read } = endless();
    const reply = await exporting(list, { format: 'jsonl' });
    if (reply.type !== 'pieces') throw new Error('It is no export.');
    expect(read).toHaveLength(1);
    for (const pages of [1, 2]) {
      await reply.pieces.next();
      expect(read).toHaveLength(pages);
    }
    await reply.pieces.return?.();
    expect(await reply.pieces.next()).toMatchObject({ done: true });
    expect(read).toHaveLength(2);
  });

  it('reads no further once its reader has gone, also where no row matches, and counts until then', async () => {
    const { list, read } = endless(0);
    const [begun, turn] = [new AbortController(), new AbortController()];
    const slow: ExportedList = {
      ...list,
      async page(cursor, limit) {
        if (cursor !== undefined) {
          begun.abort();
          await once(turn.signal, 'abort');
        }
        return list.page(cursor, limit);
      },
    };
    const own = createListReplies(free);
    const call = { caller, signal: new AbortController().signal, header: () => 'application/jsonl' };
    const begin = () => own(call, { limit: 50 }, slow);
    const reply = await begin();
    const other = await begin();
    if (reply.type !== 'pieces') throw new Error('It is no export.');
    const next = reply.pieces.next();
    if (!begun.signal.aborted) await once(begun.signal, 'abort');
    const ended = reply.pieces.return?.();
    await expect(begin()).rejects.toMatchObject({ code: 'rate_limited' });
    turn.abort();
    expect(await next).toEqual({ done: true, value: 'cut' });
    await ended;
    expect(read).toHaveLength(3);
    expect([other.type, (await begin()).type]).toEqual(['pieces', 'pieces']);
  });

  it('counts each further page, and waits for the budget of its caller', async () => {
    const taken: string[] = [];
    const own = createListReplies(async ({ tenant }) => {
      taken.push(tenant);
      if (taken.length === 2)
        throw new ParleyError('rate_limited', 'Too many.', { retryAfterSeconds: 0.001 });
      if (taken.length === 4) throw new ParleyError('unavailable', 'No store.');
    });
    const { list, read } = endless(0);
    const signal = new AbortController().signal;
    const reply = await own({ caller, signal, header: () => 'text/csv' }, { limit: 50 }, list);
    if (reply.type !== 'pieces') throw new Error('It is no export.');
    await reply.pieces.next();
    await expect(reply.pieces.next()).rejects.toMatchObject({ code: 'unavailable' });
    expect([taken.length, read.length]).toEqual([4, 3]);
  });

  it('runs beside one other of its key, until one ends, fails or loses its reader', async () => {
    const { list } = endless();
    const gone = new AbortController();
    const failing: ExportedList = { ...list, page: () => Promise.reject(new Error('no page')) };
    const first = await exporting(list, { format: 'csv' });
    const second = await exporting(list, { format: 'csv' }, undefined, gone.signal);
    if (second.type !== 'pieces') throw new Error('It is no export.');
    await expect(exporting(list, { format: 'csv' })).rejects.toMatchObject({ code: 'rate_limited' });
    expect((await exporting(list)).type).toBe('json');
    gone.abort();
    await second.pieces.return?.();
    expect(await second.pieces.next()).toEqual({ done: true, value: 'cut' });
    await expect(exporting(failing, { format: 'csv' })).rejects.toThrow('no page');
    const third = await exporting(list, { format: 'csv' });
    for (const reply of [first, third]) await linesOf(reply);
    expect((await exporting(list, { format: 'csv' }, undefined, AbortSignal.abort())).type).toBe('pieces');
  });

  it.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['text/html,application/xml;q=0.9,*/*;q=0.8', 'json'],
    ['application/json', 'json'],
    ['image/png', 'json'],
    ['text/csv', 'text/csv; charset=utf-8'],
    ['application/jsonl', 'application/jsonl; charset=utf-8'],
    ['text/csv;q=0, application/jsonl', 'application/jsonl; charset=utf-8'],
  ])('with Accept %s is %s', async (accept, type) => {
    const reply = await exporting(endless().list, {}, accept);
    expect(reply.type === 'pieces' ? reply.headers['content-type'] : reply.type).toBe(type);
    if (reply.type === 'pieces') await reply.pieces.return?.();
  });
});
