import { readFileSync, writeFileSync } from 'node:fs';
import { type Result, rowsOf } from './rows.ts';

const PAGE = new URL('../../../docs/reports/month.md', import.meta.url);
const MARK = '<!-- rows: npm run soak -->';
const END = '<!-- end of rows -->';

/** How the time passed, as the program prints it at its end. */
export interface Passage {
  readonly leaps: number;
  readonly storyDays: number;
  readonly days: number;
  readonly processors: number;
}

/** Writes the rows of a soak into docs/reports/month.md, in place of those of the last one. */
export function writeMonth(passage: Passage, results: ReadonlyMap<string, Result>, tookMs: number): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before = ''] = page.split(MARK);
  const after = page.split(END)[1] ?? '';
  writeFileSync(PAGE, `${before}${MARK}\n\n${textOf(passage, results, tookMs)}\n\n${END}${after}`);
}

function textOf(
  { leaps, storyDays, days, processors }: Passage,
  results: ReadonlyMap<string, Result>,
  tookMs: number,
) {
  const seenOf = (name: string) =>
    results.get(name)?.seen ?? `**not met**: ${results.get(name)?.fault ?? 'not run'}`;
  const promises = rowsOf(true);
  const named = new Set(promises.map(({ name }) => name));
  const atTheEnd = [...results.keys()].filter((name) => !named.has(name));
  return [
    `${Math.round(storyDays)} days of stories and ${Math.round(days - storyDays)} days after them passed in ${leaps} leaps, ` +
      `${Math.round(tookMs / 60_000)} minutes and ${Math.round(processors)} seconds of processor time (Node ${process.version}).`,
    '',
    '| promise | documented in | stated lateness | seen |',
    '|---|---|---|---|',
    ...promises.map(
      ({ name, documented, lateness }) => `| ${name} | ${documented} | ${lateness} | ${seenOf(name)} |`,
    ),
    '',
    '| at the end | seen |',
    '|---|---|',
    ...atTheEnd.map((name) => `| ${name} | ${seenOf(name)} |`),
  ].join('\n');
}
