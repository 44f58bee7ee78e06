import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** What is called of clients/console/build.mjs. */
interface ConsoleBuild {
  readonly FIRST_LOAD_GZIP_MAX: number;
  buildConsole(outdir: string): Promise<BuiltConsole>;
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
  const built = await build.buildConsole(join(folder, 'console'));
  return {
    built,
    most: build.FIRST_LOAD_GZIP_MAX,
    /** Ends with a slash. */
    folder: pathToFileURL(`${join(folder, 'console')}/`),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
