import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { architecturePage } from '../../../infra/docs/architecture-page.ts';
import { readSources } from '../../../infra/house/check-house.ts';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/architecture.md', root), 'utf8');

it('docs/architecture.md lists the folders as they are (npm run docs writes the table)', () => {
  expect(page).toBe(architecturePage(page, readSources(fileURLToPath(root))));
});

it('every place that docs/architecture.md names for an addition exists', () => {
  const [, section = ''] = /## Where would I add …\n([\s\S]*?)\n## /u.exec(page) ?? [];
  const named = [...section.matchAll(/`((?:shared|services|clients)\/[\w./-]+)`/gu)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
