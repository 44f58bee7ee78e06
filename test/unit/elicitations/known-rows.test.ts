import { ELICITATIONS } from '@parley/shared/domain/elicitations/family';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { createKnownRows } from '@parley/shared/elicitations/records/known-rows';
import { expect, it, vi } from 'vitest';

const ROWS_MAX = 10_000;
const BYTES_MAX = 8 * 1024 * 1024;

function rowOf(id: string, message = 'Which colour?'): Row {
  const definition = { tenant: 'acme', userId: 'ann', message, mode: 'form' };
  return { id, definition, status: 'pending', revision: 1, createdAt: 1_000, expiresAt: 61_000 } as never;
}

it('a noted row is found with the clock of Redis, which goes on', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const known = createKnownRows(ELICITATIONS);
    const row = rowOf('el_1');
    known.note({ row, now: 5_000 });
    vi.advanceTimersByTime(1_500);
    expect(known.find('el_1')).toEqual({ row, now: 6_500, isKnown: true });
    expect(known.find('el_2')).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

it('what is found is a copy: a change of it stays outside', () => {
  const known = createKnownRows(ELICITATIONS);
  known.note({ row: rowOf('el_1'), now: 0 });
  Object.assign(known.find('el_1')?.row.definition ?? {}, { message: 'Changed' });
  expect(known.find('el_1')?.row).toEqual(rowOf('el_1'));
});

it('a row that has ended is forgotten', () => {
  const known = createKnownRows(ELICITATIONS);
  for (const id of ['el_1', 'el_2']) known.note({ row: rowOf(id), now: 0 });
  known.note({ row: { ...rowOf('el_1'), status: 'declined' }, now: 0 });
  known.forget('el_2');
  expect([known.find('el_1'), known.find('el_2')]).toEqual([undefined, undefined]);
});

it('the number of rows and of their bytes is limited: the oldest go first', () => {
  const known = createKnownRows(ELICITATIONS);
  for (let count = 0; count <= ROWS_MAX; count += 1) known.note({ row: rowOf(`el_${count}`), now: 0 });
  expect([known.find('el_0'), known.find('el_1')?.row.id]).toEqual([undefined, 'el_1']);
  const large = 'x'.repeat(BYTES_MAX / 4);
  for (const id of ['a', 'b', 'c', 'd']) known.note({ row: rowOf(id, large), now: 0 });
  expect(known.find('a')).toBeUndefined();
  expect(['b', 'c', 'd'].map((id) => known.find(id)?.row.id)).toEqual(['b', 'c', 'd']);
  known.note({ row: rowOf('too large', 'x'.repeat(BYTES_MAX)), now: 0 });
  expect(known.find('too large')).toBeUndefined();
  expect(known.find('d')?.row.id).toBe('d');
});
