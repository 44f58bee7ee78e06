/**
 * Judges packed packages before they are published: contents, sizes and types. Packing is in `packages.ts`, the size limits are
 * in `budgets.ts`.
 */

import { ENTRY_GZIP_MAX, TARBALL_MB_MAX } from './budgets.ts';
import { entriesOf, isForBrowsers } from './entries.ts';
import { type PackedPackage, type PublishedManifest, run } from './packages.ts';
import { toolScript } from './tools.ts';

/** The files that a published package may contain in addition to its code, by the end of their paths. */
const WITHOUT_CODE = ['LICENSE', 'README.md', 'package.json', 'dist/sandbox.html', 'dist/THIRD_PARTY'];
const CODE = /^(?:src\/.*\.tsx?|bin\/.*\.js|dist\/.*\.(?:js|cjs|js\.map|d\.ts|d\.ts\.map))$/;
/** Code of the services, which is useless on a page. */
const SERVER_ONLY = /\.lua$|(?:^|\/)redis\//;
const BYTES_OF_MB = 1e6;

/** Why the packed packages may not be published, one sentence each. */
export function faultsOfPacked(
  packed: readonly PackedPackage[],
  manifests: readonly PublishedManifest[],
): string[] {
  const names = manifests.map(({ name }) => name);
  return packed.flatMap((one, at) => {
    const manifest = manifests[at];
    if (manifest === undefined) return [`${one.name} has no manifest`];
    return [
      ...faultsOfFiles(one),
      ...faultsOfManifest(manifest, names),
      ...faultsOfMegabytes(one),
      ...(isForBrowsers(one.name) ? unweighedEntries(manifest, one) : []),
    ];
  });
}

function faultsOfFiles({ name, files }: PackedPackage): string[] {
  const paths = files.map(({ path }) => path);
  const missing = ['LICENSE', 'README.md'].filter((path) => !paths.includes(path));
  const needless = paths.filter((path) => !WITHOUT_CODE.includes(path) && !CODE.test(path));
  const ofServer = isForBrowsers(name) ? paths.filter((path) => SERVER_ONLY.test(path)) : [];
  const sourceless = paths.filter((path) => path.endsWith('.map') && !paths.includes(sourceOf(path)));
  return [
    ...missing.map((path) => `${name} has no ${path}`),
    ...needless.map((path) => `${name} brings ${path}, which nobody needs`),
    ...ofServer.map((path) => `${name} brings ${path}, which belongs to the server`),
    ...sourceless.map((path) => `${name} brings ${path}, but not its source`),
  ];
}

/** The source file to which a source map of the build points. */
function sourceOf(map: string): string {
  return map.replace(/^dist\/(?:types\/)?/, 'src/').replace(/(?:\.d\.ts|\.js)\.map$/, '.ts');
}

function faultsOfManifest(manifest: PublishedManifest, published: readonly string[]): string[] {
  const { name, version, description, license, keywords, repository, dependencies = {} } = manifest;
  const faults: string[] = [];
  if (manifest.private === true) faults.push(`${name} is private`);
  if (!('sideEffects' in manifest)) faults.push(`${name} does not say what it does when it is imported`);
  if (license !== 'Apache-2.0') faults.push(`${name} has the licence ${license}`);
  if (description.length === 0 || keywords.length === 0) faults.push(`${name} cannot be found by a search`);
  if (!repository.url.startsWith('git+https://')) faults.push(`${name} has no address of its sources`);
  for (const [other, range] of Object.entries(dependencies)) {
    if (!other.startsWith('@parley/')) continue;
    if (!published.includes(other)) faults.push(`${name} needs ${other}, which is not published`);
    else if (range !== version)
      faults.push(`${name} takes ${other} ${range}; all have one version, ${version}`);
  }
  return faults;
}

function faultsOfMegabytes({ name, bytes }: PackedPackage): string[] {
  const most = TARBALL_MB_MAX[name] ?? 0;
  const megabytes = bytes / BYTES_OF_MB;
  return megabytes > most ? [`${name} weighs ${megabytes.toFixed(2)} MB packed; it may weigh ${most}`] : [];
}

function unweighedEntries(manifest: PublishedManifest, packed: PackedPackage): string[] {
  return weighedEntries(manifest, packed)
    .filter((entry) => !Object.hasOwn(ENTRY_GZIP_MAX, entry))
    .map((entry) => `${entry} has no budget`);
}

/** The entry points of a package for browsers, without those that only Parley's own packages import. */
export function weighedEntries(manifest: PublishedManifest, packed: PackedPackage): readonly string[] {
  return entriesOf(manifest, packed).filter((entry) => !entry.startsWith('@parley/core/domain/'));
}

/** Entry points that exceed their maximum size. */
export function faultsOfBytes(sizes: ReadonlyMap<string, number>): string[] {
  return [...sizes].flatMap(([entry, bytes]) => {
    const most = ENTRY_GZIP_MAX[entry] ?? 0;
    return bytes > most ? [`${entry} adds ${bytes} bytes to a page; it may add ${most}`] : [];
  });
}

/** publint's findings about the tarballs. */
export async function lintPacked(packed: readonly PackedPackage[]): Promise<string[]> {
  return faultsOfRuns(packed, ({ tarball }) => [toolScript('publint'), 'run', tarball, '--strict']);
}

/** attw's findings about the types in the tarballs, for Node's ES modules and for bundlers. */
export async function lintTypes(packed: readonly PackedPackage[]): Promise<string[]> {
  const typed = packed.filter(({ name }) => name !== '@parley/server');
  return faultsOfRuns(typed, ({ tarball }) => [
    toolScript('attw'),
    tarball,
    '--profile',
    'esm-only',
    '--exclude-entrypoints',
    './sandbox.html',
    '--no-color',
    '--no-emoji',
  ]);
}

async function faultsOfRuns(
  packed: readonly PackedPackage[],
  argumentsOf: (one: PackedPackage) => readonly string[],
): Promise<string[]> {
  const faults: string[] = [];
  // The packages are checked one after another, because each check uses a whole core.
  for (const one of packed)
    await run(process.execPath, argumentsOf(one), { cwd: process.cwd() }).catch((error: Error) =>
      faults.push(error.message),
    );
  return faults;
}
