import { existsSync, readFileSync } from 'node:fs';
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

/** The page before its first run. */
const START = [
  '# MCP over two pods',
  '',
  'Two pods and a worker share one Redis. A proxy sends each request to a random pod. The clients are the official ones, unmodified: the package',
  'of version 1 (`@modelcontextprotocol/sdk`, revision 2025-11-25) and the packages of version 2, with either revision. Each call has a name of its',
  'own, and the servers of the tools count by name what they did. The tables are written by the tests, at full size, and show all calls of the last run;',
  'a call that returned something else, or whose tool was called twice, fails the run.',
  '',
  'An *effect* is what a tool does at the end: it books, stamps, or writes a ticket. A call that its person declined, cancelled or let expire may',
  'have none. The agents book also after a no, so that each of their calls has one effect.',
  '',
  '## Clients of Parley',
  '',
  'Eight calls wait at the same time. In the cases by url of a page of Parley, the person is asked for an account at the server, and each call is one of',
  'another person. In the case of the killed pod, eight calls wait when their older pod gets SIGKILL; another pod takes its place before the next eight.',
  '',
  '<!-- stock clients -->',
  '<!-- end of stock clients -->',
  '',
  'For a server, a question that expired is one that was cancelled: MCP has no other word. The record of the question in Parley says `expired`, and the',
  'test compares it.',
  '',
  '## Servers that ask',
  '',
  'Agents use a server of each revision, and people answer in chats that they read on the other pod. Eight calls wait when the pod of their calls ends. With',
  '2026-07-28, another pod makes the call with the answers. With 2025-11-25, the question is withdrawn and the model is informed that the outcome of the call',
  'is lost: that is the right result, and the server has done nothing.',
  '',
  '<!-- servers that ask -->',
  '<!-- end of servers that ask -->',
].join('\n');

/** Writes the rows of a file of tests at full size into docs/reports/mcp.md, in place of those of its last run. */
export function reportCases(section: string, file: string, rows: readonly CaseRow[]): void {
  if (!isFullSize || rows.length === 0) return;
  const command = `PARLEY_PROOF_SIZE=full npx vitest run --project pages ${file}`;
  const [before = '', rest = ''] = (existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : START).split(
    `<!-- ${section} -->`,
  );
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
