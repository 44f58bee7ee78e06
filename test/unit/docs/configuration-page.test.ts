import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { configurationPage } from '../../../infra/docs/configuration-page.ts';

it('docs/configuration.md is what the schema says (npm run docs writes it)', () => {
  const page = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(page).toBe(configurationPage());
});
