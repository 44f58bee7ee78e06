import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createMemoryBackend } from '@parley/shared/memory/backend';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { readConsoleFiles } from '../../../services/api/src/pages/console/files.ts';
import { createTypedOperators } from '../../../services/api/src/pages/console/identity.ts';
import { createConsoleParts } from '../../../services/api/src/pages/console/parts.ts';
import { consoleRoutes, noConsoleRoutes } from '../../../services/api/src/pages/console/routes.ts';
import { ROOMY } from '../../harness/engines/settings.ts';
import { callLimitsOn } from '../../harness/http/call-limits.ts';
import { serveSurfaces } from '../../harness/turns/serve.ts';
import { newKeys } from '../../harness/vault/stores.ts';

const SCRIPT = 'console-ABCD1234.js';
let built: URL;
const nothing = pathToFileURL(join(tmpdir(), 'parley-no-console/'));

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'parley-console-'));
  built = pathToFileURL(`${folder}/`);
  await mkdir(join(folder, 'assets'));
  await writeFile(join(folder, 'index.html'), '<!doctype html><title>Console</title>');
  await writeFile(join(folder, 'secret.js'), 'not an asset');
  await writeFile(join(folder, 'assets', SCRIPT), 'export {};');
  return () => rm(folder, { recursive: true });
});

async function get(path: string, folders: readonly URL[] | undefined, method = 'GET') {
  const { pages: store, limits } = createMemoryBackend(ROOMY);
  const partsWith = (files: ReturnType<typeof readConsoleFiles>) =>
    createConsoleParts({
      publicUrl: 'https://parley.example',
      files,
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
    surfaces: [
      folders === undefined ? noConsoleRoutes(true) : consoleRoutes(partsWith(readConsoleFiles(folders))),
    ],
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
    const { status, headers, text } = await get(path, [nothing, built]);
    expect([status, text]).toEqual([200, '<!doctype html><title>Console</title>']);
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
  const { status, headers, text } = await get(`/console/assets/${SCRIPT}`, [built]);
  expect([status, text]).toEqual([200, 'export {};']);
  expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  for (const name of ['secret.js', 'index.html', '..%2fsecret.js', '', 'gone-ABCD1234.js']) {
    const beside = await get(`/console/assets/${name}`, [built]);
    expect([name, beside.status, beside.headers.get('cache-control')]).toEqual([name, 404, 'no-store']);
    expect(beside.text).not.toContain('not an asset');
  }
});

test.each([
  ['was not built', [] as URL[], 'npm run build'],
  ['is not switched on', undefined, 'PARLEY_CONSOLE is not set'],
])('a console that %s says so', async (what, folders, remedy) => {
  const { status, headers, text } = await get('/console/approvals', folders);
  expect(status).toBe(404);
  expect(text).toContain(`The console ${what}`);
  expect(text).toContain(remedy);
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
});
