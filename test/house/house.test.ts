import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkHouse, checkSuites, readSources, readTests } from '../../infra/house/check-house.ts';
import { walkThrough } from '../../infra/house/walk-through.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
// By name: in place, the rule for suites would take it for an import of this file.
const KEYS = "'../redis/keys.ts'";

const ELICITATIONS = 'shared/src/elicitations';
const SURFACES = 'services/api/src/surfaces';

describe('the house', () => {
  it('keeps its own rules', () => {
    expect(checkHouse(readSources(root))).toEqual([]);
    expect(checkSuites(readTests(root))).toEqual([]);
  });

  it('walks through its rooms without turning back too often', () => {
    const read = (path: string) =>
      existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : undefined;
    expect(walkThrough(read).flatMap(({ faults }) => faults)).toEqual([]);
  });

  it.each([
    ['a step that nothing leads to', ['b/src/b/b.ts b', 'a/src/a/a.ts a']],
    ['a step that is not there', ['a/src/a/a.ts a', 'c/src/c/c.ts c']],
    [
      'a walk that turns back',
      Array.from({ length: 7 }, (_, at) => (at % 2 ? 'b/src/b/b.ts b' : 'a/src/a/a.ts a')),
    ],
  ])('refuses %s', (_what, steps) => {
    const texts: Record<string, string> = { 'a/src/a/a.ts': 'a b', 'b/src/b/b.ts': 'b' };
    const walk = steps.length === 7 ? steps.map((step, at) => (at === 0 ? step : `+ ${step}`)) : steps;
    expect(walkThrough((path) => texts[path], { walk }).flatMap(({ faults }) => faults)).not.toEqual([]);
  });

  it('lets a suite of tests import the harness, and no other suite', () => {
    const test = (specifier: string) =>
      checkSuites([{ path: 'test/e2e/chat/a.test.ts', text: `import { x } from '${specifier}';` }]);
    expect(test('../../harness/wait-until.ts')).toEqual([]);
    expect(test('./site.ts')).toEqual([]);
    expect(test('../../faults/site.ts')).not.toEqual([]);
  });

  it('lets an example import its own folder and published packages', () => {
    const example = (specifier: string) =>
      checkSuites([{ path: 'examples/page/src/a.ts', text: `import { x } from '${specifier}';` }]);
    expect(['../b.ts', './c.ts', '@parley/sdk/chat', 'express'].flatMap(example)).toEqual([]);
    for (const other of ['../../other/b.ts', '../../../shared/src/a.ts', '@parley/shared/domain/caller'])
      expect(example(other)).toHaveLength(1);
  });

  it('lets no file of a test lead back to itself, other than by types', () => {
    const test = (imported: string) =>
      checkSuites([
        { path: 'test/harness/a.ts', text: "import { b, type B } from './b.ts';" },
        { path: 'test/harness/b.ts', text: `import { ${imported} } from './a.ts';` },
      ]);
    expect(test('a')).toEqual([expect.stringContaining('import cycle')]);
    expect(test('type A, type Other as C')).toEqual([]);
  });

  it.each([
    ['an import that runs back up', 'shared/src/domain', "import { ask } from '../elicitations/ask.ts';"],
    ['a package in the domain', 'shared/src/domain', "import { Redis } from 'ioredis';"],
    ['node in the domain', 'shared/src/domain', "import { readFileSync } from 'node:fs';"],
    ['ioredis outside its folder', ELICITATIONS, "import type { Redis } from 'ioredis';"],
    ['bullmq outside its folder', 'services/worker/src', "import { Worker } from 'bullmq';"],
    [
      'an adapter that picks a backend',
      `${SURFACES}/rest`,
      "import { x } from '@parley/shared/redis/backend';",
    ],
    ['one new surface in another', `${SURFACES}/mcp`, "import { x } from '../rest/b.ts';"],
    ['agents in a new surface', `${SURFACES}/mcp`, "import { x } from '../../agents/tools/tool.ts';"],
    ['redis in a new surface', `${SURFACES}/mcp`, "import { x } from '@parley/shared/redis/backend';"],
    ['shared by its package name', 'shared/src/runs', "import { x } from '@parley/shared/async/once';"],
    ['a rule in the core that no client imports', 'clients/core/src/domain', ''],
    ['shared in a client', 'clients/sdk/src', "import { x } from '@parley/shared/domain/reach';"],
    ['one service in another', 'services/worker/src', "import { x } from '../../api/src/app.ts';"],
    ['one surface in another', `${SURFACES}/rest`, "import { x } from '../ai-sdk/routes.ts';"],
    ['a surface that sees the agents', `${SURFACES}/openai`, "import { x } from '../../agents/loop/run.ts';"],
    ['the OpenAI surface in the other', `${SURFACES}/ai-sdk`, "import { x } from '../openai/encoder.ts';"],
    ['HTTP in turns', 'services/api/src/turns', "import type { Frame } from '../http/sse.ts';"],
    ['turns in HTTP', 'services/api/src/http', "import { x } from '../turns/follow.ts';"],
    ['a surface in the router', 'services/api/src/http', "import { x } from '../surfaces/rest/routes.ts';"],
    ['Express outside the router', 'services/api/src/wiring', "import express from 'express';"],
    ['a multi-line import', 'shared/src/ports', "import {\n  ask,\n} from '../elicitations/ask.ts';"],
    ['a dynamic import', 'shared/src/ports', `const x = await import(${KEYS});`],
    ['a default export', ELICITATIONS, 'export default function x() {}'],
    ['process.env', ELICITATIONS, 'const x = process.env.HOME;'],
    ['a star export', ELICITATIONS, "export * from './b.ts';"],
    ['a connection at import', 'shared/src/redis', 'export const redis = new Redis();'],
    [
      'a timeout that Node 20 may lose',
      ELICITATIONS,
      '  const over = AbortSignal.any([signal, AbortSignal.timeout(MS)]);',
    ],
    ['a timer at import', ELICITATIONS, 'setInterval(() => undefined, 1000);'],
    ['a file nobody can read at one sitting', ELICITATIONS, '//\n'.repeat(302)],
    ['a function of 80 lines', ELICITATIONS, `function x() {\n${'  y();\n'.repeat(80)}}\n`],
    [
      'a factory with 80 lines of its own',
      ELICITATIONS,
      `export function createX() {\n${'  y();\n'.repeat(80)}  return {\n    z: 1,\n  };\n}\n`,
    ],
    ['a file in no room', 'shared/src/attic', ''],
  ])('refuses %s', (_what, folder, text) => {
    expect(checkHouse([{ path: `${folder}/a.ts`, text }])).not.toEqual([]);
  });

  it('leaves named functions to themselves', () => {
    const inner = `  function y() {\n${'    z();\n'.repeat(60)}  }\n`;
    const text = `export function createX() {\n${inner}${inner}}\n`;
    expect(checkHouse([{ path: `${ELICITATIONS}/a.ts`, text }])).toEqual([]);
  });

  it('refuses a folder of more files than the limit', () => {
    const crowd = Array.from({ length: 21 }, (_, at) => ({ path: `shared/src/runs/a${at}.ts`, text: '' }));
    expect(checkHouse(crowd.slice(1))).toEqual([]);
    expect(checkHouse(crowd)).not.toEqual([]);
  });

  it('refuses a type name with two meanings', () => {
    const text = 'export interface Held {}';
    const two = ['shared/src/runs/a.ts', 'services/api/src/turns/b.ts'].map((path) => ({ path, text }));
    expect(checkHouse(two)).not.toEqual([]);
    expect(checkHouse([{ path: 'clients/core/src/a.ts', text }, ...two.slice(1)])).toEqual([]);
  });

  it('refuses folders side by side that import each other in a circle', () => {
    const folder = 'services/api/src/agents/mcp';
    const chain = [
      { path: `${folder}/calls/a.ts`, text: "import { b } from '../tasks/b.ts';" },
      { path: `${folder}/tasks/c.ts`, text: "import { d } from '../transports/d.ts';" },
    ];
    expect(checkHouse(chain)).toEqual([]);
    const back = { path: `${folder}/transports/e.ts`, text: "import { f } from '../calls/f.ts';" };
    expect(checkHouse([...chain, back]).join()).toContain('calls -> tasks -> transports -> calls');
  });

  it('refuses a cycle', () => {
    const faults = checkHouse([
      { path: 'shared/src/elicitations/a.ts', text: "import { b } from './b.ts';" },
      { path: 'shared/src/elicitations/b.ts', text: "import { a } from './a.ts';" },
    ]);
    expect(faults.join()).toContain('import cycle');
  });
});
