import { MUTANTS } from '../../test/mutants/list.ts';
import type { Costs } from '../../test/runner/costs.ts';

const BEGIN = '<!-- costs: npm run docs -->';
const END = '<!-- end of costs -->';
/** How many files the table names individually. */
const DEAREST = 15;

/** docs/testing.md with the costs of the folders and of the most expensive files, from test/costs.json. */
export function testingPage(page: string, costs: Costs): string {
  const [before, rest = ''] = page.split(BEGIN);
  const after = rest.split(END)[1] ?? '';
  return `${before}${BEGIN}\n\n${tableOf(costs)}\n\n${END}${after}`;
}

function tableOf({ files, runner }: Costs): string {
  const folders = new Map<string, { processor: number; files: number }>();
  for (const [file, [processor]] of Object.entries(files)) {
    const folder = file.split('/').slice(0, 2).join('/');
    const sum = folders.get(folder) ?? { processor: 0, files: 0 };
    folders.set(folder, { processor: sum.processor + processor, files: sum.files + 1 });
  }
  const dearest = Object.entries(files)
    .sort(([, [one]], [, [other]]) => other - one)
    .slice(0, DEAREST);
  const all = [...folders.values()].reduce((sum, { processor }) => sum + processor, runner);
  const rows = [...folders].sort(([, one], [, other]) => other.processor - one.processor);
  return [
    '| folder | files | processor time, s |',
    '|---|--:|--:|',
    ...rows.map(([folder, sum]) => `| \`${folder}\` | ${sum.files} | ${Math.round(sum.processor)} |`),
    `| the checks and the runner | – | ${Math.round(runner)} |`,
    `| together | ${Object.keys(files).length} | ${Math.round(all)} |`,
    '',
    '| dearest files | processor time, s |',
    '|---|--:|',
    ...dearest.map(([file, [processor]]) => `| \`${file}\` | ${Math.round(processor)} |`),
  ].join('\n');
}

/** docs/planted-defects.md, generated from the lists in test/mutants. */
export function plantedDefectsPage(): string {
  const parts = Object.entries(MUTANTS).flatMap(([part, mutants]) => [
    `## ${part}`,
    '',
    '| defect | written into | killed by |',
    '|---|---|---|',
    ...mutants.map(({ defect, file, killedBy }) => `| ${defect} | \`${file}\` | \`${killedBy}\` |`),
    '',
  ]);
  const count = Object.values(MUTANTS).reduce((sum, mutants) => sum + mutants.length, 0);
  return [
    '# Planted defects',
    '',
    `${count} defects that somebody could write into Parley, each with the test file that must fail on it. \`npm run mutants\` writes`,
    'one after the other into a copy of the tree and runs that file; `npm run mutants -- runs` takes one part. `npm run docs` writes',
    'this page.',
    '',
    ...parts,
  ].join('\n');
}
