import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { faultsOfPacked } from '../../infra/release/judge.ts';
import {
  type PackedPackage,
  type PublishedManifest,
  ROOT,
  readManifests,
} from '../../infra/release/packages.ts';
import { faultsOfLicences } from '../../infra/release/sbom.ts';
import { hasTools, toolScript } from '../../infra/release/tools.ts';
import { testNotRun } from '../harness/not-run.ts';

const CONFIG = 'infra/release/release-it.json';
const NEXT = '7.8.9';

interface ReleaseConfig {
  readonly hooks: object;
  readonly plugins: { readonly '@release-it/bumper': { readonly out: readonly { readonly file: string }[] } };
}

const git = async (cwd: string, ...args: readonly string[]) =>
  (await promisify(execFile)('git', args, { cwd, maxBuffer: 64 * 1024 * 1024 })).stdout.trim();

it('a release gives everything one version, dates the changelog and publishes nothing', async (context) => {
  if (!(await hasTools())) testNotRun(context, 'release-it is not installed; `npm test` installs it');
  const folder = await mkdtemp(join(tmpdir(), 'parley-release-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  const { hooks: _, ...config } = JSON.parse(await readFile(join(ROOT, CONFIG), 'utf8')) as ReleaseConfig;
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as PublishedManifest;
  const manifests = await git(ROOT, 'ls-files', 'package.json', 'shared/package.json', '*/*/package.json');
  const ours = manifests
    .split('\n')
    .filter((path) => /^(?:(?:shared|services\/\w+|clients\/\w+|examples\/[\w-]+)\/)?package/.test(path));
  const texts = config.plugins['@release-it/bumper'].out.map(({ file }) => file);
  for (const path of [...ours, ...texts, 'package-lock.json', '.npmrc', 'CHANGELOG.md']) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(ROOT, path), join(folder, path));
  }
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  await git(folder, 'init', '--quiet');
  await git(folder, 'config', 'user.email', 'a@example.com');
  await git(folder, 'config', 'user.name', 'a');
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '--message', 'begin');

  const args = [toolScript('release-it'), NEXT, '--ci', '--config', 'config.json'];
  await promisify(execFile)(process.execPath, args, { cwd: folder });

  expect(await git(folder, 'tag')).toBe(`v${NEXT}`);
  expect(await git(folder, 'log', '-1', '--format=%s')).toBe(`release: ${NEXT}`);
  for (const path of [...ours, ...texts]) {
    const text = await readFile(join(folder, path), 'utf8');
    expect([path, text.includes(`"${version}"`), text.includes(NEXT)]).toEqual([path, false, true]);
  }
  const changelog = await readFile(join(folder, 'CHANGELOG.md'), 'utf8');
  expect(changelog).toMatch(/^## \[Unreleased\]\n\n## \[7\.8\.9\] - \d{4}-\d\d-\d\d\n/m);

  // What names the version and is not listed would keep the old one. Histories and tests name versions of their own.
  const naming = await git(
    ROOT,
    'grep',
    '-lF',
    `${version}`,
    '--',
    'clients',
    'services',
    'shared',
    'infra',
    'examples',
    '*.yml',
  );
  const locks = ['infra/release/package-lock.json', 'infra/site/package-lock.json'];
  const listed = [...ours, ...texts, ...locks];
  expect(naming.split('\n').filter((path) => !listed.includes(path))).toEqual([]);
});

const PACKED: PackedPackage = {
  name: '@parley/core',
  tarball: '',
  bytes: 1,
  unpackedBytes: 1,
  files: ['LICENSE', 'README.md', 'package.json', 'dist/index.js', 'dist/index.js.map', 'src/index.ts'].map(
    (path) => ({ path, size: 1 }),
  ),
};
const added = (path: string) => ({ files: [...PACKED.files, { path, size: 1 }] });
const without = (path: string) => ({ files: PACKED.files.filter((file) => file.path !== path) });

it.each<[string, Partial<PackedPackage>, Partial<PublishedManifest>]>([
  ['no licence', without('LICENSE'), {}],
  ['no readme', without('README.md'), {}],
  ['a map without its source', without('src/index.ts'), {}],
  ['a test', added('test/a.test.ts'), {}],
  ['a build state', added('dist/.tsbuildinfo'), {}],
  ['a script for Redis', added('dist/redis/commit.lua'), {}],
  ['code of the server', added('dist/redis/backend.js'), {}],
  ['too many bytes', { bytes: 10e6 }, {}],
  ['an entry point without a budget', {}, { exports: { './more': './dist/more.js' } }],
  ['a package that is not published', {}, { dependencies: { '@parley/shared': '0.1.0' } }],
  ['another version of a package of ours', {}, { dependencies: { '@parley/sdk': '0.0.9' } }],
  ['private', {}, { private: true }],
  ['another licence', {}, { license: 'MIT' }],
])('a package is refused for %s', async (_what, packed, manifest) => {
  const [core, sdk] = await readManifests(ROOT);
  const judge = (one: Partial<PackedPackage>, of: Partial<PublishedManifest>) =>
    faultsOfPacked(
      [{ ...PACKED, ...one }],
      [{ ...core, ...of } as PublishedManifest, sdk as PublishedManifest],
    );
  expect(judge({}, {})).toEqual([]);
  expect(judge(packed, manifest)).not.toEqual([]);
});

it('a licence is allowed where one of its choices is', () => {
  const faults = (...licenses: object[]) =>
    faultsOfLicences({ components: [{ name: 'a', purl: 'pkg:npm/a@1', licenses }] });
  expect(faults({ license: { id: 'MIT' } })).toEqual([]);
  expect(faults({ expression: '(GPL-3.0-only OR MIT)' })).toEqual([]);
  expect(faults({ license: { id: 'GPL-3.0-only' } })).toHaveLength(1);
  expect(faults({ expression: 'MIT AND AGPL-3.0-only' })).toHaveLength(1);
  expect(faults()).toHaveLength(1);
});
