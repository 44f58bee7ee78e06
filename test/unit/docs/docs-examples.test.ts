import { readdirSync, readFileSync } from 'node:fs';
import { Variables } from '@parley/shared/config/variables';
import { describe, expect, it } from 'vitest';
import { readAgentsConfig } from '../../../services/api/src/agents/config/load.ts';

const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
const pages = ['README.md', ...readdirSync(new URL('docs/', root)).flatMap(pageOf)];

function pageOf(name: string): string[] {
  return name.endsWith('.md') ? [`docs/${name}`] : [];
}

/** Every YAML block whose first line marks it as an agents file. */
const agentsFiles = pages.flatMap((page) =>
  [...read(page).matchAll(/```yaml\n(# agents\.yaml\n[\s\S]*?)```/g)].map(([, text = '']) => ({
    page,
    text,
  })),
);

/** Has every variable. */
const env = (mode: string) =>
  new Proxy<Record<string, string>>({}, { get: (_, name) => (name === 'NODE_ENV' ? mode : 'a-value') });

describe('an agents file in the docs', () => {
  it('exists, so the cases below are not empty', () => {
    expect(agentsFiles.map(({ page }) => page)).toContain('docs/tutorial.md');
  });

  it.each(agentsFiles)('on $page starts a pod without warnings, in production too', ({ page, text }) => {
    const { config, warnings } = readAgentsConfig(text, page, env('production'));
    expect(warnings).toEqual([]);
    expect(Object.values(config.mcpServers).map((server) => server.credentialScope)).toContain('user');
  });
});

describe('docs/connect.md', () => {
  const methodAndPath = (text: string, pattern: RegExp) =>
    [...text.matchAll(pattern)].map(([, method, path]) => `${method} ${path}`).sort();

  it('lists the routes of the hosted pages, and no others', () => {
    const routes = ['routes.ts', 'answer/page-routes.ts']
      .map((file) => read(`services/api/src/pages/${file}`))
      .join('\n');
    const served = methodAndPath(routes, /method: '(GET|POST)',\s+path: '([^']+)'/g);
    expect(served.length).toBeGreaterThan(0);
    expect(methodAndPath(read('docs/connect.md'), /^\| `(GET|POST) (\/auth[^`]*)` \|/gm)).toEqual(served);
  });
});

describe('a variable that the docs name', () => {
  // Compose, its Redis, the command line, the programs that agents start and the tests have some of their own.
  const sources = [
    'docker-compose.yml',
    'infra/redis/start.sh',
    'clients/cli/src/env.ts',
    'clients/cli/src/commands/env.ts',
    'services/api/src/agents/config/services/program.ts',
    'test/harness/redis/ensure-redis-server.ts',
  ];
  const others = sources.map(read).join('\n');

  it.each(pages)('on %s is read by the code', (page) => {
    const named = [
      ...read(page).matchAll(/(?<!process\.env\.)\bPARLEY_[A-Z0-9_]*[A-Z0-9](?![A-Z0-9_*…])/g),
    ].map(([name]) => name);
    const unknown = named.filter((name) => !Object.hasOwn(Variables.shape, name) && !others.includes(name));
    expect([...new Set(unknown)]).toEqual([]);
  });
});
