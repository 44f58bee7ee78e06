import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { consoleTypes } from '../../../infra/docs/console-types.ts';

it('the console has the types of what the admin API replies; `npm run docs` writes them', () => {
  const file = new URL('../../../clients/console/src/api/replies.ts', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(consoleTypes());
});
