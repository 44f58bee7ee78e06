import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly hasInstallScript?: boolean;
  readonly license?: string;
}

interface LockFile {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Locked>>;
}
const readLock = (folder: string): LockFile =>
  JSON.parse(readFileSync(`${root}${folder}package-lock.json`, 'utf8'));
const lock = readLock('');
/** Their builds hold what they need, so that it is named among what their development needs. */
const BUNDLED = ['clients/widget', 'services/server'];
/** Packages that a test, a bench, a picture or the site installs, when it is made, and that nothing else needs. */
const APART = ['bench/peers/', 'infra/site/', 'test/harness/stacks/'];
const entries = Object.entries(lock.packages);
const packages = entries.filter(([path]) => path.includes('node_modules/'));
const ofAnother = foreignIn(lock);
const inProduction = ofAnother.filter(([, { dev, devOptional }]) => dev !== true && devOptional !== true);

const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Packages that run something when they are installed, and what they do. Add none without reading it. */
const INSTALL_SCRIPTS = new Map([
  ['msgpackr-extract', 'picks a prebuilt binary; msgpackr does without'],
  ['protobufjs', 'prints a hint about versions'],
  ['esbuild', 'checks its own binary'],
  ['ssh2', 'builds an optional binding; for tests only'],
  ['cpu-features', 'builds an optional binding; for tests only'],
]);
/** Licences that ask for no more than a notice. */
const LICENCES = [
  ...['MIT', 'Apache-2.0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'BlueOak-1.0.0'],
  'PSF-2.0',
];
// Two versions of a package stand side by side under names of ours: `npm:ai@^7.0.173`.
const RELEASED = /^(?:npm:(?:@[\w-]+\/)?[\w.-]+@)?[\^~]?\d+\.\d+\.\d+(?: \|\| \^\d+)*$/;

/** The licences of which a user may pick one. */
function choicesOf(license: string): string[] {
  return license.replace(/^\((.*)\)$/, '$1').split(' OR ');
}

describe('S24 supply chain', () => {
  it.each(['', ...APART])('every package of ./%s is locked by a content hash', (folder) => {
    const file = readLock(folder);
    expect(file.lockfileVersion).toBe(3);
    expect(foreignIn(file).length).toBeGreaterThan(50);
    const loose = foreignIn(file).filter(
      ([, { version, integrity }]) => version === undefined || !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''),
    );
    expect(loose.map(([path]) => path)).toEqual([]);
  });

  it.each(['', ...APART])(
    'no package of ./%s is resolved from a custom host, a git repository or a file',
    (folder) => {
      const tied = foreignIn(readLock(folder)).filter(([, { resolved }]) => resolved !== undefined);
      expect(tied.map(([path, { resolved }]) => `${path}: ${resolved}`)).toEqual([]);
      expect(readFileSync(`${root}${folder}.npmrc`, 'utf8')).not.toMatch(/registry\s*=|\/\/|_auth/);
    },
  );

  it.each(APART)('no package of ./%s runs an install script', (folder) => {
    expect(readFileSync(`${root}${folder}.npmrc`, 'utf8')).toContain('ignore-scripts=true');
  });

  it('links point to our own workspaces', () => {
    const links = packages.filter(([, { link }]) => link === true).map(([path]) => nameOf(path));
    expect(links.length).toBeGreaterThan(3);
    for (const name of links) expect(name).toMatch(/^@parley\//);
  });

  it('only known packages run an install script', () => {
    const scripts = new Set(
      ofAnother.filter(([, { hasInstallScript }]) => hasInstallScript === true).map(([path]) => nameOf(path)),
    );
    expect([...scripts].filter((name) => !INSTALL_SCRIPTS.has(name))).toEqual([]);
  });

  it('production depends on packages with permissive licences only', () => {
    expect(inProduction.length).toBeGreaterThan(50);
    const others = inProduction.filter(
      ([, { license = '' }]) => !choicesOf(license).some((one) => LICENCES.includes(one)),
    );
    expect(others.map(([path, { license }]) => `${nameOf(path)}: ${license}`)).toEqual([]);
  });

  it('every manifest uses ranges of released versions and has no install script', () => {
    for (const manifest of workspaces().map(manifestOf)) {
      const wanted = Object.entries({
        ...manifest.dependencies,
        ...manifest.peerDependencies,
        ...manifest.devDependencies,
      });
      for (const [name, range] of wanted) expect(String(range), name).toMatch(RELEASED);
      for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
        expect(manifest.scripts ?? {}).not.toHaveProperty(name);
      }
    }
  });

  it('production code imports only packages that our own manifests name', () => {
    // A package that is there by luck of a stranger's needs is gone with the next update.
    for (const folder of workspaces().filter((one) => one !== '')) {
      const fields = [
        'dependencies',
        'peerDependencies',
        ...(BUNDLED.includes(folder) ? ['devDependencies'] : []),
      ];
      const named = new Set(fields.flatMap((field) => namesIn(folder, field)));
      const missing = importsIn(`${root}${folder}/src`).filter((name) => !named.has(name));
      expect({ folder, missing }).toEqual({ folder, missing: [] });
    }
  });

  it('a service depends on what the shared server parts need; a client depends on none of it', () => {
    const server = namesIn('shared', 'peerDependencies');
    expect(server).toEqual(expect.arrayContaining(['ioredis', 'bullmq']));
    for (const folder of ['services/api', 'services/worker']) {
      expect(namesIn(folder)).toEqual(expect.arrayContaining(server));
    }
    // The domain checks answers by patterns in linear time.
    expect(namesIn('clients/core')).toEqual(['re2js', 'zod']);
    expect(namesIn('shared')).toEqual(['@parley/core', 'zod']);
    for (const name of server) expect(namesIn('clients/sdk')).not.toContain(name);
  });
});

function foreignIn({ packages }: LockFile): [string, Locked][] {
  return Object.entries(packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && link !== true,
  );
}

/** The folders of our own packages, from the root; the root's is empty. */
function workspaces(): string[] {
  return entries.map(([path]) => path).filter((path) => !path.includes('node_modules'));
}

function manifestOf(folder: string): Record<string, Record<string, string> | undefined> {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

function namesIn(folder: string, field = 'dependencies'): string[] {
  return Object.keys(manifestOf(folder)[field] ?? {});
}

/** Packages that the sources of a folder import. */
function importsIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...readFileSync(`${folder}/${name}`, 'utf8').matchAll(
        /^(?:import|export)\b[^'";]*?from '([^'.][^']*)'/gms,
      ),
    ])
    .map(([, specifier = '']) => specifier)
    .filter((specifier) => !specifier.startsWith('node:'))
    .map((specifier) =>
      specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/'),
    );
  return [...new Set(names)];
}
