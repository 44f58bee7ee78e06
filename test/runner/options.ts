import { parseArgs } from 'node:util';

export interface RunOptions {
  /** Parts of paths: only test files with one of them are run, and nothing else is checked. Empty: everything. */
  readonly filters: readonly string[];
  /** What needs nothing installed and ends within a minute. */
  readonly isQuick: boolean;
  /** Full sizes, and a report under docs/reports. */
  readonly isSoak: boolean;
  /** Writes what each file cost to test/costs.json. */
  readonly isRecord: boolean;
}

/** Arguments of vitest for the pure rules, the contract on the memory backend, and the rules of the house. */
const QUICK = ['test/unit/', 'test/contract/memory', 'test/house/', '--exclude=test/unit/harness/**'];

export const USAGE =
  'npm test [-- PART…]       all tests, or those whose path contains a PART, such as: npm test -- chat\nnpm run test:quick        what needs no Redis and no browser\nnpm run soak              all tests at full size, with a report\nnpm test -- --record      all tests; writes what each file cost to test/costs.json';

/** Reads the command line; throws with what is wrong about it. */
export function readOptions(args: readonly string[]): RunOptions {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
    },
  });
  const { quick: isQuick, soak: isSoak, record: isRecord } = values;
  if (isQuick && (isSoak || positionals.length > 0))
    throw new Error('--quick has a list of its own: leave the rest out.');
  if (isSoak && positionals.length > 0)
    throw new Error('A soak writes a report on everything: leave the parts out.');
  if (isRecord && (isQuick || isSoak || positionals.length > 0))
    throw new Error('--record measures the whole daily run: leave the rest out.');
  return { filters: isQuick ? QUICK : positionals, isQuick, isSoak, isRecord };
}
