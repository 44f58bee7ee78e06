import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { MUTANTS } from './list.ts';

it('each planted defect still has its place and its test', () => {
  const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  const stale = Object.values(MUTANTS)
    .flat()
    .filter(({ file, find, killedBy }) => read(file).split(find).length !== 2 || read(killedBy) === '');
  expect(stale.map(({ defect }) => defect)).toEqual([]);
});
