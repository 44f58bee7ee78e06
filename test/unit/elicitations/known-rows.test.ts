import { APPROVALS } from '@parley/shared/domain/approvals/family';
import type { ApprovalTypes } from '@parley/shared/domain/approvals/types';
import { ELICITATIONS } from '@parley/shared/domain/elicitations/family';
import type { Row } from '@parley/shared/domain/elicitations/row';
import type { ElicitationTypes } from '@parley/shared/domain/elicitations/types';
import { createKnownRows } from '@parley/shared/records/known-rows';
import { expect, it, vi } from 'vitest';

const BYTES_MAX = 64 * 1024;
const KEPT_MS = 600_000;

const openRows = () => createKnownRows(BYTES_MAX).of<ElicitationTypes>(ELICITATIONS);

function rowOf(id: string, message = 'Which colour?'): Row {
  const definition = { tenant: 'acme', userId: 'ann', message, mode: 'form' };
  return { id, definition, status: 'pending', revision: 1, createdAt: 1_000, expiresAt: 61_000 } as never;
}

it('a noted row is found with the clock of Redis, which goes on', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const known = openRows();
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
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const rows = createKnownRows(BYTES_MAX);
    const known = rows.of<ElicitationTypes>(ELICITATIONS);
    known.note({ row: { ...rowOf('el_1'), expiresAt: 1_000 + timeoutMs }, now: 1_000 });
    vi.advanceTimersByTime(keptMs - 10);
    rows.purge();
    expect(known.find('el_1')?.row.id).toBe('el_1');
    vi.advanceTimersByTime(20);
    rows.purge();
    expect(known.find('el_1')).toBeUndefined();
  } finally {
    vi.useRealTimers();
  }
});

it('what is found is a copy: a change of it stays outside', () => {
  const known = openRows();
  known.note({ row: rowOf('el_1'), now: 0 });
  Object.assign(known.find('el_1')?.row.definition ?? {}, { message: 'Changed' });
  expect(known.find('el_1')?.row).toEqual(rowOf('el_1'));
});

it('a row that has ended is removed', () => {
  const known = openRows();
  for (const id of ['el_1', 'el_2']) known.note({ row: rowOf(id), now: 0 });
  known.note({ row: { ...rowOf('el_1'), status: 'declined' }, now: 0 });
  known.remove('el_2');
  expect([known.find('el_1'), known.find('el_2')]).toEqual([undefined, undefined]);
});

it('the bytes of all families together are limited: the oldest rows go first', () => {
  const rows = createKnownRows(BYTES_MAX);
  const known = rows.of<ElicitationTypes>(ELICITATIONS);
  rows.of<ApprovalTypes>(APPROVALS).note({ row: rowOf('ap_1') as never, now: 0 });
  // Two bytes a character: four of these are too many.
  const large = 'x'.repeat(BYTES_MAX / 8 - 300);
  for (const id of ['a', 'b', 'c']) known.note({ row: rowOf(id, large), now: 0 });
  expect(known.find('ap_1')?.row.id).toBe('ap_1');
  known.note({ row: rowOf('d', large), now: 0 });
  expect(known.find('a')).toBeUndefined();
  expect(['b', 'c', 'd'].map((id) => known.find(id)?.row.id)).toEqual(['b', 'c', 'd']);
  known.note({ row: rowOf('too large', 'x'.repeat(BYTES_MAX / 2)), now: 0 });
  expect(known.find('too large')).toBeUndefined();
  expect(known.find('d')?.row.id).toBe('d');
});
