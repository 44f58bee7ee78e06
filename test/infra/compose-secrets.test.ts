import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnv } from '@parley/shared/config/env';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readServices } from '../../infra/check/docker.ts';
import { root } from './planted-tree.ts';

const FILES = {
  PARLEY_JWT_SECRET: 'api/jwt-secret',
  PARLEY_API_KEYS: 'api/api-keys',
  PARLEY_REDIS_PASSWORD: 'redis/password',
  PARLEY_GRAFANA_PASSWORD: 'grafana/password',
} as const;
type Name = keyof typeof FILES;

/** The only group to which every user may give a file. */
const GROUP = process.getgid?.() ?? 0;
const GROUPS = Object.fromEntries(
  ['API', 'REDIS', 'GRAFANA'].map((volume) => [`PARLEY_${volume}_GROUP`, String(GROUP)]),
);

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'parley-made-'));
  for (const volume of ['api', 'redis', 'grafana']) mkdirSync(join(directory, volume));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const read = (name: Name) => readFileSync(join(directory, FILES[name]), 'utf8');

/** Starts the installation with these settings; the others are left to it. */
function start(given: Partial<Record<Name, string>> = {}): Record<Name, string> {
  const names = Object.keys(FILES) as Name[];
  const env = Object.fromEntries(names.map((name) => [name, given[name] ?? 'make']));
  execFileSync('sh', [join(root, 'infra/secrets/make.sh')], {
    env: { PATH: process.env.PATH, PARLEY_SECRETS_DIR: directory, ...GROUPS, ...env },
  });
  return Object.fromEntries(names.map((name) => [name, read(name)])) as Record<Name, string>;
}

it('makes other secrets for every installation, which production accepts', () => {
  const { PARLEY_GRAFANA_PASSWORD: grafana, ...secrets } = start();
  const source = { NODE_ENV: 'production', REDIS_URL: 'redis://redis:6379', ...secrets };
  expect(readEnv('api', source).PARLEY_API_KEYS[0]).toMatch(/^default:[0-9a-f]{64}$/);
  expect(new Set([grafana, ...Object.values(secrets)]).size).toBe(4);
  rmSync(join(directory, FILES.PARLEY_JWT_SECRET));
  expect(start().PARLEY_JWT_SECRET).not.toBe(secrets.PARLEY_JWT_SECRET);
});

it('keeps them at the next start', () => {
  expect(start()).toEqual(start());
});

it('takes over what is set, and turns off what is set to nothing', () => {
  const made = start();
  const given = { PARLEY_JWT_SECRET: '', PARLEY_API_KEYS: 'acme:a-key-of-my-own-0123456789' };
  expect(start(given)).toEqual({ ...made, ...given });
  expect(start().PARLEY_API_KEYS).toBe(given.PARLEY_API_KEYS);
});

it('lets the group of a volume read its secrets, and nobody else, also those of an earlier version', () => {
  start();
  for (const file of Object.values(FILES)) chmodSync(join(directory, file), 0o644);
  start();
  const modes = Object.values(FILES).map((file) => {
    const { mode, gid } = statSync(join(directory, file));
    return [mode & 0o777, gid];
  });
  expect(modes).toEqual(Object.values(FILES).map(() => [0o640, GROUP]));
});

it('gives each service of the compose file the groups of the secrets that it mounts, and no other one', () => {
  const services = readServices(root);
  const { environment = {}, group_add: mayGive = [] } = services.secrets ?? {};
  const [, imageGroup = ''] =
    /^USER \d+:(\d+)$/m.exec(readFileSync(join(root, 'infra/Dockerfile'), 'utf8')) ?? [];
  // The group of a user that the image sets. Grafana's is that of root.
  const groupOf = ({ image, user }: (typeof services)[string]) =>
    user?.split(':')[1] ?? (image.startsWith('parley-') ? imageGroup : '0');
  for (const volume of ['api', 'redis', 'grafana']) {
    const group = environment[`PARLEY_${volume.toUpperCase()}_GROUP`];
    expect([...mayGive, '0']).toContain(group);
    const readers = Object.entries(services).filter(([, { volumes = [] }]) =>
      volumes.includes(`${volume}-secrets:/run/parley-${volume}:ro`),
    );
    expect(readers.length).toBeGreaterThan(0);
    for (const [name, service] of readers)
      expect([name, groupOf(service), ...(service.group_add ?? [])]).toContain(group);
  }
});
