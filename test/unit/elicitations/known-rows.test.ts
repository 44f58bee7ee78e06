import { ELICITATIONS } from '@parley/shared/domain/elicitations/family';
import type { Row } from '@parley/shared/domain/elicitations/row';
import { createKnownRows } from '@parley/shared/elicitations/records/known-rows';
import { expect, it, vi } from 'vitest';

const ROWS_MAX = 10_000;
const BYTES_MAX = 16 * 1024 * 1024;
const KEPT_MS = 600_000;

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

it.each([
  ['ten minutes after it was noted', 3_600_000, KEPT_MS],
  ['a minute after its deadline', 5_000, 65_000],
])('a row is kept until %s', (_until, timeoutMs, keptMs) => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  try {
    const known = createKnownRows(ELICITATIONS);
    // The library takes a start at zero for none.
    vi.advanceTimersByTime(1);
    known.note({ row: { ...rowOf('el_1'), expiresAt: 1_000 + timeoutMs }, now: 1_000 });
    vi.advanceTimersByTime(keptMs - 10);
    known.purge();
    expect(known.find('el_1')?.row.id).toBe('el_1');
    vi.advanceTimersByTime(20);
    known.purge();
    expect(known.find('el_1')).toBeUndefined();
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

it('a row that has ended is removed', () => {
  const known = createKnownRows(ELICITATIONS);
  for (const id of ['el_1', 'el_2']) known.note({ row: rowOf(id), now: 0 });
  known.note({ row: { ...rowOf('el_1'), status: 'declined' }, now: 0 });
  known.remove('el_2');
  expect([known.find('el_1'), known.find('el_2')]).toEqual([undefined, undefined]);
});

it('the number of rows and of their bytes is limited: the oldest go first', () => {
  const known = createKnownRows(ELICITATIONS);
  for (let count = 0; count <= ROWS_MAX; count += 1) known.note({ row: rowOf(`el_${count}`), now: 0 });
  expect([known.find('el_0'), known.find('el_1')?.row.id]).toEqual([undefined, 'el_1']);
  // Two bytes a character: four of these are too many.
  const large = 'x'.repeat(BYTES_MAX / 8);
  for (const id of ['a', 'b', 'c', 'd']) known.note({ row: rowOf(id, large), now: 0 });
  expect(known.find('a')).toBeUndefined();
  expect(['b', 'c', 'd'].map((id) => known.find(id)?.row.id)).toEqual(['b', 'c', 'd']);
  known.note({ row: rowOf('too large', 'x'.repeat(BYTES_MAX / 2)), now: 0 });
  expect(known.find('too large')).toBeUndefined();
  expect(known.find('d')?.row.id).toBe('d');
});
