/**
 * Builds the widget: `node build.mjs` writes dist/. It fails when a card exceeds its size budget, or contains something that a
 * strict content security policy refuses. Each step is a function, so that a test can call it with its own folder.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';

const HERE = dirname(fileURLToPath(import.meta.url));
const REPOSITORY = join(HERE, '../..');
const CARD = 'elicitation-card';
const APPROVAL_CARD = 'approval-card';

/** The size budget of a card, gzipped, with Lit and English. */
export const CARD_GZIP_MAX = 20_000;
export const APPROVAL_CARD_GZIP_MAX = 24_000;
/** The size budget of the call card for MCP Apps hosts: one page with both cards, Lit, English and German. */
export const CALL_CARD_GZIP_MAX = 40_000;
const CALL_CARD = 'call-card.html';
const GZIP_MAX = {
  [CARD]: CARD_GZIP_MAX,
  [APPROVAL_CARD]: APPROVAL_CARD_GZIP_MAX,
  [CALL_CARD]: CALL_CARD_GZIP_MAX,
};

/** The output names and their sources. A file expects the files with which it shares code beside it. */
export const ENTRIES = {
  [CARD]: 'src/index.ts',
  [APPROVAL_CARD]: 'src/approvals.ts',
  'elicitation-server': 'src/server.ts',
  'elicitation-inbox': 'src/inbox.ts',
  'parley-app': 'src/app.ts',
  'ai-sdk': 'src/ai-sdk.ts',
  'dom-events': 'src/dom-events.ts',
  react: 'src/react.ts',
  'strings-de': 'src/strings/de.ts',
};

/** Code that a file must not contain if it runs under `script-src 'self'` and loads nothing by itself. */
const FORBIDDEN = [
  [/\beval\s*\(/u, 'eval('],
  [/\bnew\s+Function\b/u, 'new Function'],
  [/@import\b/u, 'a stylesheet import'],
  [/@font-face\b/u, 'a font'],
  [/\b(?:from|import)\s*\(?\s*["'`]https?:/u, 'an import from the network'],
  [/url\(\s*["']?https?:/u, 'a resource from the network'],
];

/** @param {string} code @returns {string[]} what a strict page would refuse */
export function faultsOf(code) {
  return FORBIDDEN.filter(([pattern]) => pattern.test(code)).map(([, name]) => name);
}

/** @param {string | Uint8Array} code @returns {number} bytes as a server with gzip -9 sends them */
export function gzipSize(code) {
  return gzipSync(code, { level: 9 }).length;
}

/** Imports of these files are not bundled into their importers. */
const FILES_APART = [CARD, APPROVAL_CARD, 'elicitation-inbox', 'strings-de'];

/**
 * Leaves imports of elements and languages to their own files, so that a page loads each file once, and only those that it
 * needs.
 */
const filesApart = {
  name: 'files-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\..*\.ts$/ }, ({ path, kind, resolveDir }) => {
      if (kind === 'entry-point') return undefined;
      const output = FILES_APART.find((name) => join(HERE, ENTRIES[name]) === join(resolveDir, path));
      return output === undefined ? undefined : { path: `./${output}.js`, external: true };
    });
  },
};

/** Minifies stylesheets in template literals, which the bundler does not minify. */
export const leanStyles = {
  name: 'lean-styles',
  setup({ onLoad }) {
    onLoad({ filter: /styles\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8');
      const sheets = [...source.matchAll(/(?<=css`)[^`$]*(?=`)/gu)];
      const lean = await Promise.all(
        sheets.map(([sheet]) => transform(sheet, { loader: 'css', minify: true })),
      );
      let at = 0;
      const contents = source.replace(/(?<=css`)[^`$]*(?=`)/gu, () =>
        lean[at++].code
          .trim()
          .replaceAll(/([:,]) /gu, '$1')
          .replaceAll('\\', '\\\\'),
      );
      return { contents, loader: 'ts' };
    });
  },
};

/**
 * Lit's packages find each other by these names. Here they are in one file, and no other file uses its Lit, so the names may be
 * shortened.
 */
const LIT_INTERNALS = /^_\$[A-Z]/;

const SHARED = {
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  target: 'es2022',
  // Setting conditions drops the default one for ES modules, so it is listed too.
  conditions: ['parley-source', 'module'],
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
};

/**
 * Bundles one entry into `outdir`.
 * @param {keyof typeof ENTRIES} name
 * @param {string} outdir
 * @returns {Promise<{ name: string; path: string; bytes: number; gzip: number; faults: string[]; inputs: string[] }>}
 */
export async function bundle(name, outdir = join(HERE, 'dist')) {
  const { outputFiles, metafile } = await build({
    ...SHARED,
    entryPoints: [ENTRIES[name]],
    write: false,
    metafile: true,
    format: 'esm',
    external: ['react'],
    plugins: [leanStyles, filesApart],
  });
  const inputs = Object.keys(metafile.inputs).map((path) => relative(REPOSITORY, join(HERE, path)));
  return { ...(await writeTo(outdir, name, await leanCode(outputFiles[0].text))), inputs };
}

async function leanCode(text) {
  // In minified code, only mark-up in templates still has line breaks. Beside a tag they can be removed, because all elements
  // there are boxes; elsewhere they become blanks.
  const lean = text.replace(/(?<=>)\n\s+|\n\s+(?=<)/gu, '').replace(/\n\s+/gu, ' ');
  // A second pass inlines constants of other sources and gives the shortest names to what is used most.
  const { code } = await transform(lean, {
    minify: true,
    target: SHARED.target,
    charset: SHARED.charset,
    mangleProps: LIT_INTERNALS,
  });
  return code;
}

function fileOf(name) {
  return name.includes('.') ? name : `${name}.js`;
}

async function writeTo(outdir, name, text) {
  const path = join(outdir, fileOf(name));
  await mkdir(outdir, { recursive: true });
  await writeFile(path, text);
  return { name, path, bytes: Buffer.byteLength(text), gzip: gzipSize(text), faults: faultsOf(text) };
}

/**
 * Builds the call card as one page for MCP Apps hosts. Its policy allows only its own script, by hash.
 * @param {string} outdir
 */
export async function bundleCallCard(outdir = join(HERE, 'dist')) {
  const { outputFiles } = await build({
    ...SHARED,
    entryPoints: ['src/call-card/page.ts'],
    write: false,
    format: 'iife',
    plugins: [leanStyles],
  });
  const code = (await leanCode(outputFiles[0].text)).trim().replaceAll('</script', '<\\/script');
  const hash = createHash('sha256').update(code).digest('base64');
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width"><title>Parley</title></head><body><script>${code}</script></body></html>`;
  return writeTo(outdir, CALL_CARD, page);
}

/** Builds the gallery as a page that opens from disk: its script contains the card and is not a module. */
export async function buildGallery(outdir = join(HERE, 'dist/gallery')) {
  await mkdir(outdir, { recursive: true });
  await build({
    ...SHARED,
    entryPoints: ['gallery/gallery.ts'],
    outfile: join(outdir, 'gallery.js'),
    format: 'iife',
    plugins: [leanStyles],
  });
  for (const file of ['index.html', 'gallery.css']) await cp(join(HERE, 'gallery', file), join(outdir, file));
}

/** Copies the page that a deployment serves from another origin, for `<parley-app>`. */
export async function copySandbox(outdir = join(HERE, 'dist')) {
  await mkdir(outdir, { recursive: true });
  await cp(join(HERE, 'sandbox/sandbox.html'), join(outdir, 'sandbox.html'));
}

/** Writes the type declarations, for pages in TypeScript. */
export async function buildTypes() {
  const manifest = createRequire(import.meta.url).resolve('typescript/package.json');
  const tsc = join(dirname(manifest), 'bin/tsc');
  try {
    await promisify(execFile)(process.execPath, [
      tsc,
      '-b',
      join(HERE, 'tsconfig.build.json'),
      '--singleThreaded',
    ]);
  } catch (error) {
    throw new Error(`The declarations could not be written:\n${error.stdout}`, { cause: error });
  }
}

/** @param {Awaited<ReturnType<typeof bundle>>} built @returns {string[]} why it may not ship */
export function faultsOfBundle({ name, gzip, faults }) {
  const file = fileOf(name);
  const found = faults.map((fault) => `${file} holds ${fault}: a strict page refuses that`);
  const most = GZIP_MAX[name] ?? Number.POSITIVE_INFINITY;
  if (gzip > most)
    found.push(`${file} is ${gzip} bytes gzipped, ${gzip - most} more than the ${most} it may be`);
  return found;
}

function report(bundles) {
  for (const { name, bytes, gzip } of bundles) {
    process.stdout.write(
      `${fileOf(name).padEnd(24)} ${String(bytes).padStart(7)} B ${String(gzip).padStart(7)} B gzipped\n`,
    );
  }
  const faults = bundles.flatMap(faultsOfBundle);
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

/** Builds everything; with `--call-card <folder>` only that page, for the service that serves it. */
async function main([option, folder]) {
  if (option === '--call-card') return report([await bundleCallCard(folder)]);
  await rm(join(HERE, 'dist'), { recursive: true, force: true });
  const bundles = [];
  for (const name of Object.keys(ENTRIES)) bundles.push(await bundle(name));
  // The package names the authors of the files' contents; infra/bundle/notices.ts reads this list.
  const inputs = [...new Set(bundles.flatMap((one) => one.inputs))];
  await writeFile(join(HERE, 'dist/inputs.json'), JSON.stringify(inputs));
  bundles.push(await bundleCallCard());
  await buildGallery();
  await copySandbox();
  await buildTypes();
  report(bundles);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
