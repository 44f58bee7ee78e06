import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listChangedFiles } from '../../infra/house/changed-files.ts';

function newFolder() {
  const root = mkdtempSync(join(tmpdir(), 'parley-changed-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const write = (name: string, text: string) => writeFileSync(join(root, name), text);
  const look = () => listChangedFiles(root, join(root, '.tmp/checked.json'));
  return { root, write, look };
}

it('lists what differs from the files that passed last, and everything once a judge has changed', () => {
  const { root, write, look } = newFolder();
  execFileSync('git', ['init', '--quiet', root]);
  write('.gitignore', '.tmp');
  write('biome.json', '{}');
  write('a.ts', 'a');
  write('b.ts', 'b');
  const first = look();
  expect(first.paths).toBeUndefined();
  // A file that changes while the check runs has not passed.
  write('a.ts', 'changed in the meantime');
  first.passed();
  expect(look().paths).toEqual(['a.ts']);
  look().passed();
  write('c.ts', 'c');
  rmSync(join(root, 'b.ts'));
  expect(look().paths).toEqual(['c.ts']);
  write('biome.json', '{"changed": true}');
  expect(look().paths).toBeUndefined();
});

it('judges everything where git does not list the files', () => {
  const { write, look } = newFolder();
  write('a.ts', 'a');
  look().passed();
  expect(look().paths).toBeUndefined();
});
