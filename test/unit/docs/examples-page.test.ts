import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const examples = new URL('../../../examples/', import.meta.url);

it('examples/README.md lists every example, and each has a short README', () => {
  const entries = readdirSync(examples, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const page = readFileSync(new URL('README.md', examples), 'utf8');
  const listed = [...page.matchAll(/^\| \[([\w-]+)\]\(\1\) \|/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(folders.sort());
  for (const folder of folders) {
    const lines = readFileSync(new URL(`${folder}/README.md`, examples), 'utf8').split('\n');
    expect([folder, lines.length <= 41]).toEqual([folder, true]);
  }
});
