import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { calledAs, shellWord } from '../../../clients/cli/src/called-as.ts';

const PROGRAM = "it's here/lib/node_modules/@parley/cli/bin/parley.js";
const NODE = realpathSync(process.execPath);

/** Folders with links to the program, or to another one of that name. */
function placeOf(links: Readonly<Record<string, 'own' | 'other'>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-called-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const name of [PROGRAM, 'other/parley.js']) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), `console.log('${name.startsWith('other') ? 'other' : 'own'}')`);
  }
  for (const [link, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, link)), { recursive: true });
    symlinkSync(join(root, target === 'own' ? PROGRAM : 'other/parley.js'), join(root, link));
  }
  return root;
}

it.each([
  ['installed globally', { 'bin/parley': 'own' }, ['bin'], 'parley'],
  [
    'another program of that name first',
    { 'first/parley': 'other', 'bin/parley': 'own' },
    ['first', 'bin'],
    'node',
  ],
  ['installed in the folder', { 'project/node_modules/.bin/parley': 'own' }, [], 'npx parley'],
  [
    'started by npx there',
    { 'project/node_modules/.bin/parley': 'own' },
    ['project/node_modules/.bin'],
    'npx parley',
  ],
  [
    'started by npx from its cache',
    { 'cache/node_modules/.bin/parley': 'own' },
    ['cache/node_modules/.bin'],
    'node',
  ],
  ['another one in the folder', { 'project/node_modules/.bin/parley': 'other' }, [], 'node'],
] as const)('a program that is %s can be called as it prints', (_name, links, path, expected) => {
  const root = placeOf(links);
  const folder = join(root, 'project/src');
  mkdirSync(folder, { recursive: true });
  const start = { program: join(root, PROGRAM), folder, path: path.map((one) => join(root, one)).join(':') };
  const called = calledAs({ ...start, node: NODE });
  if (expected !== 'node') expect(called).toBe(expected);
  // With no Node on the path, by its own path; what is printed is run by a shell.
  else expect(execFileSync('sh', ['-c', called], { encoding: 'utf8' })).toBe('own\n');
  expect(calledAs({ ...start, path: `${start.path}:${dirname(NODE)}`, node: NODE })).toMatch(
    expected === 'node' ? /^node '/ : expected,
  );
});

it.each([
  ['el_aZ-9', false, 'el_aZ-9'],
  ["it's $HOME", false, "'it'\\''s $HOME'"],
  ['C:\\Program Files\\node.exe', true, '"C:\\Program Files\\node.exe"'],
])('%j is one word of a shell', (word, isWindows, expected) => {
  expect(shellWord(word, isWindows)).toBe(expected);
});
