import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOT_APPLICABLE } from '../../test/conformance/not-applicable.ts';
import { HELD_BY_KIT, OPEN, REASONS } from './mcp-held.ts';

/** A requirement of the specification. */
export interface NormativeRow {
  readonly id: string;
  /** As in the specification; `RULE` where it is normative without a keyword. */
  readonly level: string;
  /** The side that it binds. Parley is on both. */
  readonly who: string;
  readonly text: string;
}

/** A test that holds a row: its title has the row's id in brackets, as in `[MCP25-10 MCP26-10]`. */
export interface HoldingTest {
  readonly file: string;
  readonly title: string;
  readonly rows: readonly string[];
}

const TAG = /\[((?:MCP25|T25|MCP26|MRTR|T26|SEC)-\d\d(?: (?:MCP25|T25|MCP26|MRTR|T26|SEC)-\d\d)*)\]/gu;
const LITERAL = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/gu;

/** The rows that infra/docs/mcp-rows.tsv lists: id, level, side, requirement. */
export function readRows(root: string): readonly NormativeRow[] {
  return readFileSync(join(root, 'infra/docs/mcp-rows.tsv'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [id = '', level = '', who = '', text = ''] = line.split('\t');
      return { id, level, who, text };
    });
}

/** The tests under `test/` whose titles name rows. */
export function findHoldingTests(root: string): readonly HoldingTest[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
    .sort()
    .flatMap((path) => testsIn(`test/${path}`, readFileSync(join(root, 'test', path), 'utf8')));
}

/** The tagged titles in the text of a file. */
export function testsIn(file: string, text: string): readonly HoldingTest[] {
  if (text.search(TAG) < 0) return [];
  return [...text.matchAll(LITERAL)].flatMap(([literal]) => {
    const rows = [...literal.matchAll(TAG)].flatMap(([, ids = '']) => ids.split(' '));
    if (rows.length === 0) return [];
    const title = literal.slice(1, -1).replaceAll(TAG, '').replaceAll(/\\(.)/gu, '$1').trim();
    return [{ file, title, rows }];
  });
}

/** What is wrong: rows that nothing holds or that are held and listed as open, unknown rows, and scenarios that do not run. */
export function faultsOfRows(
  rows: readonly NormativeRow[],
  tests: readonly HoldingTest[],
): readonly string[] {
  const known = new Set(rows.map(({ id }) => id));
  const tested = new Set(tests.flatMap((test) => test.rows));
  const isHeld = (id: string) => tested.has(id) || id in HELD_BY_KIT || id in REASONS;
  const named = [...tested, ...Object.keys(HELD_BY_KIT), ...Object.keys(REASONS), ...OPEN];
  const notRun = new Set(NOT_APPLICABLE.flatMap(({ scenarios }) => scenarios));
  return [
    ...named.filter((id) => !known.has(id)).map((id) => `${id}: there is no such row`),
    ...rows.flatMap(({ id }) => {
      if (isHeld(id)) return OPEN.includes(id) ? [`${id}: is held, and still listed as open`] : [];
      return OPEN.includes(id) ? [] : [`${id}: no test and no stated reason holds it`];
    }),
    ...Object.entries(HELD_BY_KIT).flatMap(([id, scenarios]) =>
      scenarios.every((scenario) => notRun.has(scenario))
        ? [`${id}: the kit runs none of its scenarios`]
        : [],
    ),
  ];
}

/** docs/mcp-normative.md. */
export function normativePage(rows: readonly NormativeRow[], tests: readonly HoldingTest[]): string {
  const held = rows.length - OPEN.length;
  const sections = SECTIONS.flatMap(([prefix, heading]) => [
    `## ${heading}`,
    '',
    '| row | level | requirement | held by |',
    '|---|---|---|---|',
    ...rows.filter(({ id }) => id.startsWith(`${prefix}-`)).map((row) => lineOf(row, tests)),
    '',
  ]);
  return [
    '# Requirements of MCP, and what holds them',
    '',
    'Written by `npm run docs`. The rows paraphrase what the revisions 2025-11-25 and 2026-07-28 demand of elicitation and of what it',
    'needs. A test holds a row by naming it in its title; `kit` is a scenario of the conformance kit, which `npm run conformance` runs against two',
    'pods. `npm test` fails for a row that nothing holds.',
    '',
    `${held} of ${rows.length} rows are held. The others are marked *open*.`,
    '',
    ...sections,
  ].join('\n');
}

const SECTIONS = [
  ['MCP25', 'Elicitation, 2025-11-25'],
  ['T25', 'Transport and life cycle, 2025-11-25'],
  ['MCP26', 'Elicitation, 2026-07-28'],
  ['MRTR', 'Requests of several rounds, 2026-07-28'],
  ['T26', 'Base and transport, 2026-07-28'],
  ['SEC', 'Security best practices'],
] as const;

function lineOf({ id, level, text }: NormativeRow, tests: readonly HoldingTest[]): string {
  const holders = tests
    .filter((test) => test.rows.includes(id))
    .map(({ file, title }) => `${title} ([${fileName(file)}](../${file}))`);
  const scenarios = (HELD_BY_KIT[id] ?? []).map((scenario) => `kit: \`${scenario}\``);
  const reason = REASONS[id];
  const all = [...holders, ...scenarios, ...(reason === undefined ? [] : [reason])];
  return `| ${id} | ${level} | ${cell(text)} | ${all.length === 0 ? '*open*' : all.map(cell).join('; ')} |`;
}

function fileName(file: string): string {
  return file.split('/').at(-1) ?? file;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
