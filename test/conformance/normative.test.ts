import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { A2A } from '../../infra/docs/a2a-held.ts';
import { ACP } from '../../infra/docs/acp-held.ts';
import { MCP } from '../../infra/docs/mcp-held.ts';
import {
  faultsOfRows,
  findHoldingTests,
  normativePage,
  readRows,
  testsIn,
} from '../../infra/docs/normative.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
// Not as tags: this file would hold the rows.
const tag = (...ids: string[]) => `[${ids.join(' ')}]`;

const tests = findHoldingTests(root);

describe.each([MCP, ACP, A2A])('the requirements on $page', (standard) => {
  const { page, rowsCount, sections } = standard;
  const rows = readRows(root, standard);

  it('are each held by a test or a stated reason, or are listed as open', () => {
    expect(rows).toHaveLength(rowsCount);
    expect(faultsOfRows(standard, rows, tests)).toEqual([]);
  });

  it('are on the page with what holds them', () => {
    const written = readFileSync(`${root}${page}`, 'utf8');
    expect(written, 'run `npm run docs`').toBe(normativePage(standard, rows, tests));
  });

  it('are not held by what no test names, nor by a title of an unknown row', () => {
    const [[prefix = ''] = []] = sections;
    const row = { id: `${prefix}-99`, level: 'MUST', who: 'both', text: 'Hold.' };
    const faults = faultsOfRows(standard, [...rows, row], tests);
    expect(faults).toEqual([`${prefix}-99: no test and no stated reason holds it`]);
    const unknown = { file: 'test/a.test.ts', title: 'a', rows: [`${prefix}-98`] };
    expect(faultsOfRows(standard, rows, [...tests, unknown])).toEqual([`${prefix}-98: there is no such row`]);
  });
});

it('requirements are read from the titles of tests', () => {
  const text = `it('asks once ${tag('MCP25-10', 'MCP26-10')}', () => undefined);\nit("it's late ${tag('SEC-05')}", f);\nconst other = 'no tag';`;
  expect(testsIn('test/a.test.ts', text)).toEqual([
    { file: 'test/a.test.ts', title: 'asks once', rows: ['MCP25-10', 'MCP26-10'] },
    { file: 'test/a.test.ts', title: "it's late", rows: ['SEC-05'] },
  ]);
});

it('requirements are counted by what holds them', () => {
  const held = (id: string) => ({ file: 'test/a.test.ts', title: 'a', rows: [id] });
  const rowsOf = (...ids: string[]) => ids.map((id) => ({ id, level: 'MUST', who: 'both', text: 'Hold.' }));
  const given = {
    ...A2A,
    heldByKit: { 'A2A-02': ['a-scenario'] },
    reasons: {
      'A2A-01': 'By design: a test holds it, too.',
      'A2A-03': 'By design: so.',
      'A2A-04': 'Does not apply: there is none.',
      'A2A-05': 'Permission only.',
    },
    open: ['A2A-06'],
  };
  const all = rowsOf('A2A-01', 'A2A-02', 'A2A-03', 'A2A-04', 'A2A-05', 'A2A-06');
  expect(normativePage(given, all, [held('A2A-01')])).toContain(
    'Rows: 6, of which 2 held by tests, 1 held by design, 1 not applicable, 1 explained by another reason, 1 marked *open*.\n',
  );
  expect(normativePage({ ...given, open: [] }, rowsOf('A2A-01'), [held('A2A-01')])).toContain(
    'Rows: 1, of which 1 held by tests.\n',
  );
});
