/**
 * Builds the widget: `node build.mjs` writes dist/ and fails when the card has grown past its budget or holds what a strict page refuses.
 * Each step is a function, so that a test can call it with a folder of its own.
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

/** What a card may weigh, gzipped, with Lit and English. */
export const CARD_GZIP_MAX = 20_000;
export const APPROVAL_CARD_GZIP_MAX = 24_000;
/** The same for the card of a call in hosts of MCP Apps: one page with both cards, Lit, English and German. */
export const CALL_CARD_GZIP_MAX = 40_000;
const CALL_CARD = 'call-card.html';
const GZIP_MAX = {
  [CARD]: CARD_GZIP_MAX,
  [APPROVAL_CARD]: APPROVAL_CARD_GZIP_MAX,
  [CALL_CARD]: CALL_CARD_GZIP_MAX,
};

/** Output name to source. Each file expects those it shares something with beside it. */
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

/** What may not stand in a file that runs under `script-src 'self'` and fetches nothing of its own. */
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

/** Imports of these are not bundled into their importers. */
const FILES_APART = [CARD, APPROVAL_CARD, 'elicitation-inbox', 'strings-de'];

/** Sends imports of the elements and languages to their own files, so that a page has each once, and what it needs. */
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

/** Minifies the stylesheets, which stand in templates where the bundler does not look. */
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

/** By these names the packages of Lit find each other. Here they stand in one file, and no other file uses its Lit. */
const LIT_INTERNALS = /^_\$[A-Z]/;

const SHARED = {
  absWorkingDir: HERE,
  bundle: true,
  minify: true,
  target: 'es2022',
  // Naming conditions drops the one that picks ES modules, so it is named too.
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
  // Minified, only mark-up has lines left. They stand for a blank, and for nothing beside a tag: all of it are boxes.
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
 * Builds the card of a call as one page for hosts of MCP Apps. Its policy admits its own script, by its hash, and nothing else.
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

/** The gallery as a page that opens from disk: its script holds the card and is no module. */
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

/** The page that a deployment serves from another origin, for `<parley-app>`. */
export async function copySandbox(outdir = join(HERE, 'dist')) {
  await mkdir(outdir, { recursive: true });
  await cp(join(HERE, 'sandbox/sandbox.html'), join(outdir, 'sandbox.html'));
}

/** The declarations, for pages written in TypeScript. */
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

/** `--call-card <folder>` builds that page alone, for the service that serves it. */
async function main([option, folder]) {
  if (option === '--call-card') return report([await bundleCallCard(folder)]);
  await rm(join(HERE, 'dist'), { recursive: true, force: true });
  const bundles = [];
  for (const name of Object.keys(ENTRIES)) bundles.push(await bundle(name));
  // The package names the authors of what its files contain: infra/bundle/notices.ts reads this.
  const inputs = [...new Set(bundles.flatMap((one) => one.inputs))];
  await writeFile(join(HERE, 'dist/inputs.json'), JSON.stringify(inputs));
  bundles.push(await bundleCallCard());
  await buildGallery();
  await copySandbox();
  await buildTypes();
  report(bundles);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
