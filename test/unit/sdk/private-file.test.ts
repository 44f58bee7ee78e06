import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeDevServer } from '../../../clients/cli/src/dev/settings.ts';
import { createFileStore } from '../../../clients/cli/src/secrets/file-store.ts';

it('secrets are written through no symbolic link that was planted, and replace a file that others could read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-private-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const stolen = join(folder, 'stolen');
  for (const name of ['dev.json', 'secrets.json', 'secrets.key'])
    symlinkSync(stolen, join(folder, `${name}.${process.pid}`));
  symlinkSync(stolen, join(folder, 'dev.json'));
  writeFileSync(join(folder, 'secrets.json'), '{}', { mode: 0o644 });
  writeDevServer(folder, 'http://127.0.0.1:3000');
  const store = createFileStore(folder);
  await store.set('a name', 'a secret');
  expect(await store.get('a name')).toBe('a secret');
  expect(existsSync(stolen)).toBe(false);
  expect(readFileSync(join(folder, 'dev.json'), 'utf8')).toContain('jwtSecret');
  for (const name of ['dev.json', 'secrets.json', 'secrets.key'])
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
});
