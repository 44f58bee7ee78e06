import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../../../infra/release/packages.ts';
import { type Consumer, openConsumer } from '../packages/consumer.ts';
import { linkTree } from '../packages/link-tree.ts';
import { isFullSize } from '../proof-size.ts';

/** Puts the example `examples/<name>` with its packages into a folder of its own, as somebody does who has copied it. */
export type InstallExample = (name: string) => Promise<Consumer>;

/** What a developer's own try of an example has made, and what no copy of it begins with. */
const MADE = new Set([
  'node_modules',
  'package-lock.json',
  'dist',
  '.next',
  'next-env.d.ts',
  'tsconfig.tsbuildinfo',
  '.env',
  'refunds.json',
  'checkpoints.bin',
  'run-state.json',
  '.output',
  '.workflow-data',
]);
/** Most of the bytes of an installation; a program that runs reads none of them. */
const OF_NO_RUN = /\.map$|\.d\.[cm]?ts$|@parley\/\w+\/src$|node_modules\/\.bin$/;
const MODULES = join(ROOT, 'node_modules');
/** The commands that examples call. */
const COMMANDS = {
  tsx: fileURLToPath(new URL('tsx.sh', import.meta.url)),
  esbuild: join(MODULES, '.bin/esbuild'),
  vite: join(MODULES, '.bin/vite'),
};

interface ExamplesPlace {
  /** Examples are installed below this folder. */
  readonly folder: string;
  /** The URL of the registry that has Parley's packages. */
  readonly registry: string;
  /** Has installed Parley's libraries from this registry. */
  readonly library: Consumer;
}

/**
 * At full size npm installs all packages of an example from the registry, and its types are checked. Otherwise it gets the
 * published packages that `library` has, and this repository's own copies of others, since an npm install takes seconds of
 * processor time, and so does tsx, in place of which its programs are compiled by esbuild.
 */
export function createExamples({ folder, registry, library }: ExamplesPlace): InstallExample {
  return async (name) => {
    const copy = join(folder, 'examples', name);
    const isOfExample = (path: string) => !MADE.has(basename(path));
    await cp(join(ROOT, 'examples', name), copy, { recursive: true, filter: isOfExample });
    const example = await openConsumer(copy, registry);
    if (isFullSize) {
      await example.run('npm', 'install');
      await example.run('npx', 'tsc');
      return example;
    }
    const modules = join(copy, 'node_modules');
    linkTree(join(library.folder, 'node_modules'), modules, (path) => !OF_NO_RUN.test(path));
    await mkdir(join(modules, '.bin'));
    for (const [command, path] of Object.entries(COMMANDS))
      await symlink(path, join(modules, '.bin', command));
    const { dependencies, devDependencies } = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'));
    const others = Object.keys({ ...dependencies, ...devDependencies }).filter(
      (each) => !each.startsWith('@parley/'),
    );
    for (const each of others) await linkPackage(example, each, each);
    return example;
  };
}

/** Makes a package of this repository's own dependencies one of the consumer's, under that name. */
export async function linkPackage(consumer: Consumer, name: string, source: string): Promise<void> {
  const place = join(consumer.folder, 'node_modules', name);
  await rm(place, { recursive: true, force: true });
  await mkdir(dirname(place), { recursive: true });
  await symlink(join(MODULES, source), place);
}
