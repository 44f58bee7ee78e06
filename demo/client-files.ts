import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const CLIENTS = new URL('../clients/', import.meta.url);

/** The widget's files that the pages load. */
const WIDGET_FILES = [
  'elicitation-card',
  'approval-card',
  'elicitation-server',
  'elicitation-inbox',
  'ai-sdk',
  'strings-de',
].map((name) => `${name}.js`);
const WIDGET_OUTPUT = new URL('widget/dist/', CLIENTS);
const WIDGET_BUILD = new URL('widget/build.mjs', CLIENTS);
const WIDGET_SOURCES = [WIDGET_BUILD, new URL('widget/src/', CLIENTS), new URL('core/src/', CLIENTS)];

/** The exports of the widget's build.mjs that are used here. */
interface WidgetBuild {
  bundle(name: string): Promise<unknown>;
}

/** The files of Parley's clients that the pages load, by name: those of the widget, and `parley-core.js`. */
export async function loadClientFiles(print: (text: string) => void): Promise<ReadonlyMap<string, string>> {
  const [widget, core] = await Promise.all([loadWidget(print), bundleCore()]);
  return new Map([...widget, ['parley-core.js', core]]);
}

/** Reads the widget's bundles, and builds them first if a source is newer. */
async function loadWidget(print: (text: string) => void): Promise<[name: string, text: string][]> {
  const outputs = WIDGET_FILES.map((name) => new URL(name, WIDGET_OUTPUT));
  const [built, changed] = await Promise.all([
    Promise.all(outputs.map(changedAt)),
    Promise.all(WIDGET_SOURCES.map(newestIn)),
  ]);
  if (Math.min(...built) <= Math.max(...changed)) {
    print('Building the widget…');
    const { bundle } = (await import(WIDGET_BUILD.href)) as WidgetBuild;
    await Promise.all(WIDGET_FILES.map((name) => bundle(name.replace(/\.js$/, ''))));
  }
  const texts = await Promise.all(outputs.map((file) => readFile(file, 'utf8')));
  return WIDGET_FILES.map((name, index) => [name, texts[index] ?? '']);
}

/** Bundles clients/core in memory, because it has no build of its own for browsers. */
async function bundleCore(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('core/src/index.ts', CLIENTS))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    conditions: ['parley-source', 'module'],
  });
  return outputFiles[0]?.text ?? '';
}

/** When a file, or the newest file in a folder, was last changed, in ms since 1970. */
async function newestIn(place: URL): Promise<number> {
  if (!place.href.endsWith('/')) return changedAt(place);
  const files = await readdir(fileURLToPath(place), { recursive: true });
  return Math.max(...(await Promise.all(files.map((file) => changedAt(new URL(file, place))))));
}

/** When a file was last changed; 0 if it does not exist. */
async function changedAt(file: URL): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}
