import { execFile } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** The folder for the output of `npm run packages`. */
export const FOLDER = join(ROOT, '.tmp/packages');

/** The folders of the packages that are published, each after the packages on which it depends. */
export const PUBLISHED = [
  'clients/core',
  'clients/sdk',
  'clients/widget',
  'services/server',
  'clients/cli',
] as const;

/** The members of a published manifest that are read here. */
export interface PublishedManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly repository: { readonly url: string; readonly directory: string };
  readonly keywords: readonly string[];
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly private?: boolean;
}

/** A package that `npm pack` has written. */
export interface PackedPackage {
  readonly name: string;
  /** The path of the tarball. */
  readonly tarball: string;
  readonly bytes: number;
  readonly unpackedBytes: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

interface NpmPacked {
  readonly name: string;
  readonly filename: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

/** Runs a command to its end. Rejects with the output of the command. */
export async function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, {
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  }).catch((error: { readonly stdout: string; readonly stderr: string }) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`, { cause: error });
  });
  return stdout;
}

/** Builds and packs every published package of the checkout `root` into `folder`, which is emptied first. */
export async function packAll(root: string, folder: string): Promise<readonly PackedPackage[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const paths = PUBLISHED.map((path) => join(root, path));
  const output = await run('npm', ['pack', ...paths, '--pack-destination', folder, '--json'], { cwd: root });
  // `npm pack` prints its JSON after the output of the builds.
  const packed = JSON.parse(output.slice(output.search(/^\[$/m))) as readonly NpmPacked[];
  return packed.map(({ name, filename, size, unpackedSize, files }) => ({
    name,
    tarball: join(folder, filename),
    bytes: size,
    unpackedBytes: unpackedSize,
    files,
  }));
}

/** The manifests of the published packages of the checkout `root`. */
export function readManifests(root: string): Promise<readonly PublishedManifest[]> {
  return Promise.all(
    PUBLISHED.map(async (path) => {
      const text = await readFile(join(root, path, 'package.json'), 'utf8');
      return JSON.parse(text) as PublishedManifest;
    }),
  );
}

/** The path of a package's tarball from `npm run packages`. */
export function tarballOf({ name, version }: PublishedManifest): string {
  return join(FOLDER, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
}
