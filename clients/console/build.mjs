/**
 * Builds the console: `node build.mjs [file]` writes one file of JSON, by default dist/console.json, and fails when what a page loads
 * first has grown past its budget, or when something holds what a strict page refuses.
 *
 * The file holds `page`, which is the same for each path below /console, and `assets` by their names below /console/assets/. A name holds
 * a digest: a cache may keep an asset for ever, and the page never. One file can be read by the api, and held by its bundle, whole.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
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
 * Builds the console into a file, which is there whole or not at all.
 * @param {string} file
 * @returns {Promise<{ files: { name: string; gzip: number }[]; firstLoad: number; faults: string[] }>}
 */
export async function buildConsole(file = join(HERE, 'dist/console.json')) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: HERE,
    entryPoints: { console: 'src/main.ts', look: 'src/console.css' },
    outdir: 'dist',
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
  // Minified, only mark-up has lines left.
  const lean = (path, text) => (path.endsWith('.js') ? text.replace(/\n\s+/gu, '\n') : text);
  const assets = Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), lean(path, text)]));
  const names = Object.keys(assets);
  const [script, style] = ['console-', 'look-'].map((start) => names.find((name) => name.startsWith(start)));
  const template = await readFile(join(HERE, 'index.html'), 'utf8');
  const page = template.replace('{script}', BASE + script).replace('{style}', BASE + style);
  await writeWhole(file, JSON.stringify({ page, assets }));
  const files = names.map((name) => ({ name, gzip: gzipSize(assets[name]) }));
  const first = [...importedBy(script, metafile), style];
  const firstLoad = files.filter(({ name }) => first.includes(name)).reduce((sum, { gzip }) => sum + gzip, 0);
  const faults = names.flatMap((name) =>
    faultsOf(assets[name]).map((fault) => `${name} holds ${fault}: a strict page refuses that`),
  );
  if (firstLoad > FIRST_LOAD_GZIP_MAX)
    faults.push(`the first page loads ${firstLoad} bytes gzipped, of ${FIRST_LOAD_GZIP_MAX} that it may`);
  return { files, firstLoad, faults };
}

async function writeWhole(file, text) {
  await mkdir(dirname(file), { recursive: true });
  const part = `${file}.${process.pid}`;
  await writeFile(part, text);
  await rename(part, file);
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

async function main([file]) {
  const { files, firstLoad, faults } = await buildConsole(file);
  for (const { name, gzip } of files)
    process.stdout.write(`${name.padEnd(28)} ${String(gzip).padStart(7)} B gzipped\n`);
  process.stdout.write(`the first page loads ${firstLoad} B gzipped, of ${FIRST_LOAD_GZIP_MAX}\n`);
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
