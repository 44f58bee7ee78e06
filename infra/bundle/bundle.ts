import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Metafile } from 'esbuild';
import { neighboursInside } from './neighbours.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The source of `main.cjs`, which starts the bundle in the same folder. */
const RUN_BUNDLE = 'infra/bundle/run-bundle.cjs';
/** The files that determine, together with a program's sources, what its bundle contains. */
export const MAKER = ['infra/bundle/bundle.ts', 'infra/bundle/neighbours.ts', RUN_BUNDLE];

interface BundleOptions {
  /** A TypeScript file, relative to the repository. */
  readonly entry: string;
  /** The folder for `main.cjs`, which starts the program, and `bundle.cjs`, which contains it. */
  readonly folder: string;
  /**
   * True if sources may read files next to them, as programs for tests may. Released programs may not, because these files are
   * missing where they run.
   */
  readonly readsNeighbours?: boolean;
  /** True to write `bundle.cjs.map`. */
  readonly withMap?: boolean;
}

interface Bundled {
  readonly metafile: Metafile;
  /** Files whose text the bundle contains, relative to the repository. */
  readonly embedded: readonly string[];
}

/**
 * Writes a program as one file that contains everything that it imports and reads. A module that is imported by `import()` or
 * required at run time is evaluated only then. Tests start their pods from such a bundle, and images and packages contain it.
 */
export async function bundleProgram(options: BundleOptions): Promise<Bundled> {
  const { entry, folder, readsNeighbours = false, withMap = false } = options;
  const embedded = new Set<string>();
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: join(folder, 'bundle.cjs'),
    bundle: true,
    platform: 'node',
    // Unlike a module, a script can be started from cached compiled code.
    format: 'cjs',
    target: 'node20',
    conditions: ['parley-source'],
    // A script that runs from cached code refuses `import("http")` (ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING).
    supported: { 'dynamic-import': false },
    // These packages load a binary from their installation folder.
    external: ['esbuild', '@napi-rs/keyring'],
    // Names are kept, so that a stack trace tells where an error is. The line limit keeps the line that Node prints for an
    // error short. Syntax is kept too: when it was minified, a token server of the tests refused tokens that it had issued.
    minifyWhitespace: true,
    lineLimit: 200,
    sourcemap: withMap ? 'external' : false,
    sourcesContent: false,
    plugins: [
      neighboursInside({ embedded, urlOf: readsNeighbours ? (path) => pathToFileURL(path).href : undefined }),
    ],
    banner: { js: '(function (require, module, __filename, __dirname) {' },
    footer: { js: '})' },
    legalComments: 'none',
    logLevel: 'silent',
    metafile: true,
  });
  const digest = createHash('sha256')
    .update(await readFile(join(folder, 'bundle.cjs')))
    .digest('hex');
  const runBundle = await readFile(join(ROOT, RUN_BUNDLE), 'utf8');
  await writeFile(join(folder, 'main.cjs'), runBundle.replace('digest of the bundle', digest.slice(0, 16)));
  return { metafile, embedded: [...embedded].map((path) => relative(ROOT, path)).sort() };
}
