import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { writeReport } from '../../harness/load/size.ts';
import { isFullSize } from '../../harness/proof-size.ts';

/** The calls of one case of one client, as they ended. */
export interface CaseRow {
  readonly client: string;
  readonly name: string;
  readonly calls: number;
  /** Calls that returned what the case expects. */
  readonly right: number;
  /** Effects of the tools. */
  readonly effects: number;
  /** Calls whose tool was called more than once. */
  readonly repeated: number;
}

const PAGE = new URL('../../../docs/reports/mcp.md', import.meta.url);
const ENDS = 'end of';

/** Writes the rows of a file of tests at full size into docs/reports/mcp.md, in place of those of its last run. */
export function reportCases(section: string, file: string, rows: readonly CaseRow[]): void {
  if (!isFullSize || rows.length === 0) return;
  const command = `PARLEY_PROOF_SIZE=full npx vitest run --project pages ${file}`;
  const [before = '', rest = ''] = readFileSync(PAGE, 'utf8').split(`<!-- ${section} -->`);
  const [, after = ''] = rest.split(`<!-- ${ENDS} ${section} -->`);
  const table = rows.map(
    ({ client, name, calls, right, effects, repeated }) =>
      `| ${client} | ${name} | ${calls} | ${right} | ${effects} | ${repeated} |`,
  );
  writeReport('mcp', [
    `${before}<!-- ${section} -->`,
    '',
    `Run on ${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, Node ${process.version}, with \`${command}\`.`,
    '',
    '| client or server | case | calls | with the right result | effects | called more than once |',
    '|---|---|--:|--:|--:|--:|',
    ...table,
    '',
    `<!-- ${ENDS} ${section} -->${after.trimEnd()}`,
  ]);
}
