import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const json = (path: string) => JSON.parse(read(path));

/** Where the tests take software of others from. */
const FOLDERS = ['', 'test/harness/stacks/'];
/** What the software of the stacks needs beside itself. */
const NEEDED = ['@langchain/core', '@langchain/langgraph', 'zod'];

const rows = [...read('docs/compatibility.md').matchAll(/^\| `([^`]+)`[^|]*\| (\d[^ |]*) \|(.*)$/gm)].map(
  ([, name = '', version = '', rest = '']) => ({ name, version, isByHand: rest.includes(' by hand') }),
);

it('docs/compatibility.md names the versions that the tests drive', () => {
  const locked = FOLDERS.map((folder) => json(`${folder}package-lock.json`).packages);
  const isInstalled = ({ name, version }: (typeof rows)[number]) =>
    locked.some((packages) => packages[`node_modules/${name}`]?.version === version);
  const driven = rows.filter(({ isByHand }) => !isByHand);
  expect(driven.length).toBeGreaterThan(15);
  expect(driven.filter((row) => !isInstalled(row))).toEqual([]);
});

it('docs/compatibility.md has a row for all that is installed for it', () => {
  const { dependencies } = json('test/harness/stacks/package.json');
  const named = new Set([...rows.map(({ name }) => name), ...NEEDED]);
  expect(Object.keys(dependencies).filter((name) => !named.has(name))).toEqual([]);
});
