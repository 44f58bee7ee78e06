import { checkReadsPerSecond } from '@parley/shared/redis/audit/index-check';
import { expect, it } from 'vitest';

const LEAST = 2_000;

// Two reads for each row: its id and its deadline.
it.each([
  { rows: 0, reads: LEAST },
  { rows: 100_000, reads: LEAST },
  { rows: 300_000, reads: LEAST },
  { rows: 1_000_000, reads: 6_666 },
  { rows: 3_000_000, reads: 20_000 },
  { rows: 100_000_000, reads: 20_000 },
])('a check of $rows rows reads $reads of their parts a second', ({ rows, reads }) => {
  expect(Math.floor(checkReadsPerSecond(rows, LEAST))).toBe(reads);
});
