import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  A2A_REQUIREMENTS,
  faultsOfRows,
  findHoldingTests,
  normativePage,
  readRows,
  testsIn,
} from '../../../infra/docs/mcp-normative.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
// Not as tags: this file would hold the rows.
const tag = (...ids: string[]) => `[${ids.join(' ')}]`;

describe('the requirements of MCP', () => {
  const rows = readRows(root);
  const tests = findHoldingTests(root);

  it('are each held by a test or a stated reason, or are listed as open', () => {
    expect(rows).toHaveLength(197);
    expect(faultsOfRows(rows, tests)).toEqual([]);
  });

  it('are on the page with what holds them', () => {
    const page = readFileSync(`${root}docs/mcp-normative.md`, 'utf8');
    expect(page, 'run `npm run docs`').toBe(normativePage(rows, tests));
  });

  it('are not held by what no test names, nor by a title of an unknown row', () => {
    const row = { id: 'SEC-99', level: 'MUST', who: 'both', text: 'Hold.' };
    expect(faultsOfRows([...rows, row], tests)).toEqual(['SEC-99: no test and no stated reason holds it']);
    const unknown = { file: 'test/a.test.ts', title: 'a', rows: ['SEC-98'] };
    expect(faultsOfRows(rows, [...tests, unknown])).toEqual(['SEC-98: there is no such row']);
  });

  it('are read from the titles of tests', () => {
    const text = `it('asks once ${tag('MCP25-10', 'MCP26-10')}', () => undefined);\nit("it's late ${tag('SEC-05')}", f);\nconst other = 'no tag';`;
    expect(testsIn('test/a.test.ts', text)).toEqual([
      { file: 'test/a.test.ts', title: 'asks once', rows: ['MCP25-10', 'MCP26-10'] },
      { file: 'test/a.test.ts', title: "it's late", rows: ['SEC-05'] },
    ]);
  });
});

it('the requirements of A2A are each held, and on the page with what holds them', () => {
  const rows = readRows(root, A2A_REQUIREMENTS);
  const tests = findHoldingTests(root);
  expect(rows).toHaveLength(40);
  expect(faultsOfRows(rows, tests, A2A_REQUIREMENTS)).toEqual([]);
  const page = readFileSync(`${root}docs/a2a-normative.md`, 'utf8');
  expect(page, 'run `npm run docs`').toBe(normativePage(rows, tests, A2A_REQUIREMENTS));
});
