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

const replies = createListReplies();
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

  it('runs beside one other of its key, until one ends, fails or loses its reader', async () => {
    const { list } = endless();
    const gone = new AbortController();
    const failing: ExportedList = { ...list, page: () => Promise.reject(new Error('no page')) };
    const first = await exporting(list, { format: 'csv' });
    await exporting(list, { format: 'csv' }, undefined, gone.signal);
    await expect(exporting(list, { format: 'csv' })).rejects.toMatchObject({ code: 'rate_limited' });
    expect((await exporting(list)).type).toBe('json');
    gone.abort();
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
