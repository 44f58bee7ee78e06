/**
 * Builds the console: `node build.mjs` writes dist/ and fails when what a page loads first has grown past its budget, or when a file
 * holds what a strict page refuses. `node build.mjs <folder>` writes it elsewhere, for the service that serves it.
 *
 * dist/index.html is the page, for each path below /console. It names what lies in dist/assets, whose names hold a digest: a cache may
 * keep these files for ever, and the page never.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { faultsOf, gzipSize, leanStyles } from '../widget/build.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
/** Where the page finds its files. */
const BASE = '/console/assets/';
/** What the first page may weigh, gzipped: its script with what that imports at once, and its style sheet. */
export const FIRST_LOAD_GZIP_MAX = 60_000;

/**
 * Builds the console into `outdir`, which is emptied before.
 * @param {string} outdir
 * @returns {Promise<{ files: { name: string; gzip: number }[]; firstLoad: number; faults: string[] }>}
 */
export async function buildConsole(outdir = join(HERE, 'dist')) {
  await rm(outdir, { recursive: true, force: true });
  await mkdir(join(outdir, 'assets'), { recursive: true });
  const { outputFiles, metafile } = await build({
    absWorkingDir: HERE,
    entryPoints: { console: 'src/main.ts', look: 'src/console.css' },
    outdir: join(outdir, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    minify: true,
    metafile: true,
    write: false,
    target: 'es2022',
    conditions: ['parley-source', 'module'],
    legalComments: 'none',
    charset: 'utf8',
    logLevel: 'warning',
    plugins: [leanStyles],
  });
  const files = await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      // Minified, only mark-up has lines left.
      const lean = path.endsWith('.js') ? text.replace(/\n\s+/gu, '\n') : text;
      await writeFile(path, lean);
      return { name: basename(path), gzip: gzipSize(lean), faults: faultsOf(lean) };
    }),
  );
  const [script, style] = ['console-', 'look-'].map(
    (start) => files.find(({ name }) => name.startsWith(start)).name,
  );
  const template = await readFile(join(HERE, 'index.html'), 'utf8');
  const page = template.replace('{script}', BASE + script).replace('{style}', BASE + style);
  await writeFile(join(outdir, 'index.html'), page);
  const first = [...importedBy(script, metafile), style];
  const firstLoad = files.filter(({ name }) => first.includes(name)).reduce((sum, { gzip }) => sum + gzip, 0);
  const faults = files.flatMap(({ name, faults: found }) =>
    found.map((fault) => `${name} holds ${fault}: a strict page refuses that`),
  );
  if (firstLoad > FIRST_LOAD_GZIP_MAX)
    faults.push(`the first page loads ${firstLoad} bytes gzipped, of ${FIRST_LOAD_GZIP_MAX} that it may`);
  return { files: files.map(({ name, gzip }) => ({ name, gzip })), firstLoad, faults };
}

/** A file and all that it imports before it runs. */
function importedBy(name, { outputs }) {
  const found = new Set([name]);
  for (const file of found) {
    const [, output] = Object.entries(outputs).find(([path]) => basename(path) === file);
    for (const { path, kind } of output.imports) if (kind === 'import-statement') found.add(basename(path));
  }
  return [...found];
}

async function main([outdir]) {
  const { files, firstLoad, faults } = await buildConsole(outdir);
  for (const { name, gzip } of files)
    process.stdout.write(`${name.padEnd(28)} ${String(gzip).padStart(7)} B gzipped\n`);
  process.stdout.write(`the first page loads ${firstLoad} B gzipped, of ${FIRST_LOAD_GZIP_MAX}\n`);
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
