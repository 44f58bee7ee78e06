import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { plantedDefectsPage, testingPage } from '../../../infra/docs/testing-page.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

it('docs/testing.md and docs/planted-defects.md are what the lists say (npm run docs writes them)', () => {
  const page = read('docs/testing.md');
  expect(page).toBe(testingPage(page, JSON.parse(read('test/costs.json'))));
  expect(read('docs/planted-defects.md')).toBe(plantedDefectsPage());
});
