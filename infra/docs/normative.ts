/**
 * Compares the requirements of a standard with the tests that hold them, and writes its page. The lists of each standard are in
 * `mcp-held.ts`, `acp-held.ts` and `a2a-held.ts`.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A requirement of the specification. */
interface NormativeRow {
  readonly id: string;
  /** The keyword in the specification; `RULE` if the text is normative without a keyword. */
  readonly level: string;
  /** The side that must satisfy it. Parley is on both sides. */
  readonly who: string;
  readonly text: string;
}

/** A standard whose requirements are listed, and what holds them in addition to tests. */
export interface Standard {
  /** The file of its requirements: id, level, side, requirement. */
  readonly rowsFile: string;
  /** The generated page. */
  readonly page: string;
  /** How many rows there are. */
  readonly rowsCount: number;
  /** The beginning of the page. */
  readonly head: readonly string[];
  /** The prefixes of its requirements' ids, with their headings. */
  readonly sections: readonly (readonly [prefix: string, heading: string])[];
  /** Requirements that scenarios of a conformance kit hold. */
  readonly heldByKit: Readonly<Record<string, readonly string[]>>;
  /** Scenarios that the kit does not run. */
  readonly notRun: readonly string[];
  /** Requirements that a test cannot hold, or that need no test, each with its reason. */
  readonly reasons: Readonly<Record<string, string>>;
  /** Requirements that no test holds yet. */
  readonly open: readonly string[];
}

/** A test that holds requirements. Its title contains their ids in brackets, as in `[MCP25-10 MCP26-10]`. */
interface HoldingTest {
  readonly file: string;
  readonly title: string;
  readonly rows: readonly string[];
}

const ROW = '(?:MCP25|T25|MCP26|MRTR|T26|SAMP|SEC|ACP|A2A)-\\d\\d';
const TAG = new RegExp(`\\[(${ROW}(?: ${ROW})*)\\]`, 'gu');
const LITERAL = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/gu;

/** Reads the requirements of a standard. */
export function readRows(root: string, { rowsFile }: Standard): readonly NormativeRow[] {
  return readFileSync(join(root, rowsFile), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [id = '', level = '', who = '', text = ''] = line.split('\t');
      return { id, level, who, text };
    });
}

/** The tests under `test/` whose titles contain ids of requirements. */
export function findHoldingTests(root: string): readonly HoldingTest[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .sort()
    .flatMap((path) => testsIn(`test/${path}`, readFileSync(join(root, 'test', path), 'utf8')));
}

/** The titles with ids in the text of a file. */
export function testsIn(file: string, text: string): readonly HoldingTest[] {
  if (text.search(TAG) < 0) return [];
  return [...text.matchAll(LITERAL)].flatMap(([literal]) => {
    const rows = [...literal.matchAll(TAG)].flatMap(([, ids = '']) => ids.split(' '));
    if (rows.length === 0) return [];
    const title = literal.slice(1, -1).replaceAll(TAG, '').replaceAll(/\\(.)/gu, '$1').trim();
    return [{ file, title, rows }];
  });
}

/**
 * The faults of the list: requirements that nothing holds, or that are held but listed as open; unknown ids; and scenarios that
 * do not run.
 */
export function faultsOfRows(
  standard: Standard,
  rows: readonly NormativeRow[],
  tests: readonly HoldingTest[],
): readonly string[] {
  const { heldByKit, notRun, open, reasons, sections } = standard;
  const known = new Set(rows.map(({ id }) => id));
  const isOwn = (id: string) => sections.some(([prefix]) => id.startsWith(`${prefix}-`));
  const tested = new Set(tests.flatMap((test) => test.rows.filter(isOwn)));
  const isHeld = (id: string) => tested.has(id) || id in heldByKit || id in reasons;
  const named = [...tested, ...Object.keys(heldByKit), ...Object.keys(reasons), ...open];
  return [
    ...named.filter((id) => !known.has(id)).map((id) => `${id}: there is no such row`),
    ...rows.flatMap(({ id }) => {
      if (isHeld(id)) return open.includes(id) ? [`${id}: is held, and still listed as open`] : [];
      return open.includes(id) ? [] : [`${id}: no test and no stated reason holds it`];
    }),
    ...Object.entries(heldByKit).flatMap(([id, scenarios]) =>
      scenarios.every((scenario) => notRun.includes(scenario))
        ? [`${id}: the kit runs none of its scenarios`]
        : [],
    ),
  ];
}

/** Generates the page of a standard. */
export function normativePage(
  standard: Standard,
  rows: readonly NormativeRow[],
  tests: readonly HoldingTest[],
): string {
  const sections = standard.sections.flatMap(([prefix, heading]) => [
    `## ${heading}`,
    '',
    '| row | level | requirement | held by |',
    '|---|---|---|---|',
    ...rows.filter(({ id }) => id.startsWith(`${prefix}-`)).map((row) => lineOf(standard, row, tests)),
    '',
  ]);
  return [...standard.head, '', countsOf(standard, rows, tests), '', ...sections].join('\n');
}

/** How many requirements are held by tests, by design, in other ways, or not yet. */
function countsOf(
  { heldByKit, reasons, open }: Standard,
  rows: readonly NormativeRow[],
  tests: readonly HoldingTest[],
): string {
  const tested = new Set([...tests.flatMap((test) => test.rows), ...Object.keys(heldByKit)]);
  const stated = rows.filter(({ id }) => !tested.has(id)).map(({ id }) => reasons[id] ?? '');
  const startingWith = (words: string) => stated.filter((reason) => reason.startsWith(words)).length;
  const design = startingWith('By design');
  const idle = startingWith('Does not apply');
  const counts: readonly (readonly [count: number, what: string])[] = [
    [rows.filter(({ id }) => tested.has(id)).length, 'held by tests'],
    [design, 'held by design'],
    [idle, 'not applicable'],
    [stated.filter((reason) => reason !== '').length - design - idle, 'explained by another reason'],
    [open.length, 'marked *open*'],
  ];
  const parts = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return `Rows: ${rows.length}, of which ${parts.join(', ')}.`;
}

function lineOf(
  { heldByKit, reasons }: Standard,
  { id, level, text }: NormativeRow,
  tests: readonly HoldingTest[],
): string {
  const holders = tests
    .filter((test) => test.rows.includes(id))
    .map(({ file, title }) => `${title} ([${file.split('/').at(-1) ?? file}](../${file}))`);
  const scenarios = (heldByKit[id] ?? []).map((scenario) => `kit: \`${scenario}\``);
  const reason = reasons[id];
  const all = [...holders, ...scenarios, ...(reason === undefined ? [] : [reason])];
  return `| ${id} | ${level} | ${cell(text)} | ${all.length === 0 ? '*open*' : all.map(cell).join('; ')} |`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
