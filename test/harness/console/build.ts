import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What is called of clients/console/build.mjs. */
interface ConsoleBuild {
  readonly FIRST_LOAD_GZIP_MAX: number;
  buildConsole(file: string): Promise<BuiltConsole>;
}

export interface BuiltConsole {
  readonly files: readonly { readonly name: string; readonly gzip: number }[];
  readonly firstLoad: number;
  readonly faults: readonly string[];
}

/** Builds the console as it ships, in a folder of its own. */
export async function buildConsole() {
  const build = (await import(
    new URL('../../../clients/console/build.mjs', import.meta.url).href
  )) as ConsoleBuild;
  const folder = await mkdtemp(join(tmpdir(), 'parley-console-'));
  const file = join(folder, 'console.json');
  const built = await build.buildConsole(file);
  return {
    built,
    most: build.FIRST_LOAD_GZIP_MAX,
    /** The file that it wrote. */
    text: await readFile(file, 'utf8'),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
