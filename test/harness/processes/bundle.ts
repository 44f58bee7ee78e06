import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleProgram, MAKER, ROOT } from '../../../infra/bundle/bundle.ts';

const FOLDER = join(ROOT, '.tmp/bundles');
const OLD_MS = 24 * 3_600_000;
/** Stands for every file below node_modules. */
const LOCK_FILE = 'package-lock.json';

interface Manifest {
  /** What the bundle was made from, relative to the repository, without dependencies. */
  readonly inputs: readonly string[];
  /** Digest of the contents of the inputs, of the lock file, and of the files that make and run the bundle. */
  readonly key: string;
}

const bundles = new Map<string, Promise<string>>();

/**
 * The path of a JavaScript file that does what the TypeScript file `entry` (relative to the repository) does, with all
 * it imports inside. A pod that starts from it takes a sixth of the processor time that compiling in the process takes.
 * Built when it is first asked for and again when a source file has changed; processes that ask at the same time at
 * worst build it twice.
 */
export function bundleEntry(entry: string): Promise<string> {
  const known = bundles.get(entry);
  if (known !== undefined) return known;
  const bundle = findBundle(entry).then((found) => found ?? buildBundle(entry));
  bundles.set(entry, bundle);
  return bundle;
}

async function findBundle(entry: string): Promise<string | undefined> {
  try {
    const { inputs, key } = JSON.parse(await readFile(manifestFile(entry), 'utf8')) as Manifest;
    if ((await digest(inputs)) !== key) return undefined;
    const file = bundleFile(entry, key);
    await stat(file);
    return file;
  } catch {
    return undefined;
  }
}

async function buildBundle(entry: string): Promise<string> {
  const started = join(FOLDER, `${slug(entry)}.${randomUUID()}`);
  const { metafile, embedded } = await bundleProgram({
    entry,
    folder: started,
    readsNeighbours: !ships(entry),
  });
  const sources = Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'));
  const inputs = [...sources, ...embedded];
  const key = await digest(inputs);
  const file = bundleFile(entry, key);
  const folder = join(file, '..');
  // A second process finds the same bundle already in the folder.
  await rename(started, folder).catch(() => rm(started, { recursive: true, force: true }));
  const draft = `${started}.json`;
  await writeFile(draft, JSON.stringify({ inputs, key } satisfies Manifest));
  await rename(draft, manifestFile(entry));
  await dropOldBundles();
  return file;
}

/** Whether `npm run bundle` writes the same for images and packages. */
function ships(entry: string): boolean {
  return entry.startsWith('services/');
}

/** Bundles of earlier states of the sources. A run of the tests that started from one may still use it for a while. */
async function dropOldBundles(): Promise<void> {
  for (const name of await readdir(FOLDER)) {
    const path = join(FOLDER, name);
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() !== true || Date.now() - found.mtimeMs < OLD_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
}

async function digest(inputs: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  const contents = await Promise.all(
    [...inputs, LOCK_FILE, ...MAKER].map((path) => readFile(join(ROOT, path)).catch(() => '')),
  );
  for (const content of contents) hash.update(content).update('\0');
  return hash.digest('hex').slice(0, 16);
}

function slug(entry: string): string {
  return entry.replaceAll(/[^\w]+/g, '-');
}

function manifestFile(entry: string): string {
  return join(FOLDER, `${slug(entry)}.json`);
}

function bundleFile(entry: string, key: string): string {
  return join(FOLDER, `${slug(entry)}.${key}`, 'main.cjs');
}
