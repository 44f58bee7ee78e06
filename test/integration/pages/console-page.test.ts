import { createMemoryBackend } from '@parley/shared/memory/backend';
import { expect, onTestFinished, test } from 'vitest';
import { type ConsoleFiles, parseConsoleFiles } from '../../../services/api/src/pages/console/files.ts';
import { createTypedOperators } from '../../../services/api/src/pages/console/identity.ts';
import { createConsoleParts } from '../../../services/api/src/pages/console/parts.ts';
import { consoleRoutes, noConsoleRoutes } from '../../../services/api/src/pages/console/routes.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import { newKeys } from '../../harness/vault/stores.ts';

const SCRIPT = 'console-ABCD1234.js';
const PAGE = '<!doctype html><title>Console</title>';
const built = parseConsoleFiles(
  JSON.stringify({ page: PAGE, assets: { [SCRIPT]: 'export {};', 'notes.txt': 'not an asset' } }),
);

async function get(path: string, files: ConsoleFiles | 'none' | 'off', method = 'GET') {
  const { pages: store, limits } = createMemoryBackend(ROOMY);
  const partsWith = () =>
    createConsoleParts({
      publicUrl: 'https://parley.example',
      files: typeof files === 'string' ? undefined : files,
      identity: createTypedOperators(['acme']),
      keys: newKeys(),
      store,
      limits,
      notifyOrigins: [],
      brand: { logoUrl: 'https://img.example/logo.svg' },
      proxyHops: 0,
      failuresMax: 30,
      postsMax: 120,
      idleMs: 60_000,
      sessionMs: 60_000,
      onEvent: () => undefined,
      onSession: () => undefined,
    });
  const served = await serveSurfaces({
    surfaces: [files === 'off' ? noConsoleRoutes(true) : consoleRoutes(partsWith())],
    authenticate: () => Promise.reject(new Error('no route has a token')),
    limits: callLimitsOn(limits),
    corsOrigins: ['https://page.example'],
  });
  onTestFinished(served.close);
  const response = await fetch(served.url + path, { method, headers: { origin: 'https://page.example' } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test.each(['/console', '/console/', '/console/people/alice%40example.com?x=1', '/console/turns/t1?userId=a'])(
  'the page is served at %s, is never kept, and runs nothing but files of its own',
  async (path) => {
    const { status, headers, text } = await get(path, built);
    expect([status, text]).toEqual([200, PAGE]);
    expect(headers.get('cache-control')).toBe('no-store');
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy.split('; ')).toContain(rule);
    expect(policy).toContain("img-src 'self' data: https://img.example");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=/);
    expect(headers.has('access-control-allow-origin')).toBe(false);
  },
);

test('what the page loads is kept for ever, and nothing beside it is served', async () => {
  const { status, headers, text } = await get(`/console/assets/${SCRIPT}`, built);
  expect([status, text]).toEqual([200, 'export {};']);
  expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  for (const name of ['notes.txt', 'index.html', '..%2fnotes.txt', '', 'gone-ABCD1234.js']) {
    const beside = await get(`/console/assets/${name}`, built);
    expect([name, beside.status, beside.headers.get('cache-control')]).toEqual([name, 404, 'no-store']);
    expect(beside.text).not.toContain('not an asset');
  }
});

test.each([
  ['was not built', 'none', 'npm run build'],
  ['is not switched on', 'off', 'PARLEY_CONSOLE is not set'],
] as const)('a console that %s says so', async (what, folders, remedy) => {
  const { status, headers, text } = await get('/console/approvals', folders);
  expect(status).toBe(404);
  expect(text).toContain(`The console ${what}`);
  expect(text).toContain(remedy);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
});
