/**
 * Builds the console: `node build.mjs [file]` writes one JSON file, by default dist/console.json. It fails when the files of
 * the first page exceed their budget, or when a file contains something that a strict content security policy refuses.
 *
 * The JSON has `page`, the same for each path below /console, and `assets` by their names below /console/assets/. A name
 * contains a digest, so assets may be cached for ever, but the page must not be. A single file can be read by the api and
 * included in its bundle.
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { faultsOf, gzipSize, leanStyles } from '../widget/build.mjs';

const HERE = dirname(fileURLToPath(import.meta.url));
/** The path under which the page finds its files. */
const BASE = '/console/assets/';
/** The size budget of the first page, gzipped: its script with static imports, and its style sheet. */
export const FIRST_LOAD_GZIP_MAX = 60_000;

/**
 * Builds the console into a file, which is written completely or not at all.
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
  // In minified code, only mark-up in templates still has line breaks, so they can be removed.
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

/** A file and all its static imports. */
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
