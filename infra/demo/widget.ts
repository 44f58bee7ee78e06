import { readdir, readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The files of the widget that the pages load, and where they lie once they are built. */
const FILES = ['elicitation-card', 'elicitation-server', 'elicitation-inbox', 'ai-sdk', 'strings-de'].map(
  (name) => `${name}.js`,
);
const FOLDER = new URL('../../clients/widget/dist/', import.meta.url);

const BUILD = new URL('../../clients/widget/build.mjs', import.meta.url);
const SOURCES = [
  BUILD,
  new URL('../../clients/widget/src/', import.meta.url),
  new URL('../../shared/src/domain/', import.meta.url),
];

/** What build.mjs exports of use here. */
interface WidgetBuild {
  bundle(name: string): Promise<unknown>;
}

/** What the pages load of the widget, by file name; built first unless it is there and newer than its sources. */
export async function loadWidget(say: (text: string) => void): Promise<ReadonlyMap<string, string>> {
  const outputs = FILES.map((name) => new URL(name, FOLDER));
  const [built, changed] = await Promise.all([
    Promise.all(outputs.map(changedAt)),
    Promise.all(SOURCES.map(newestIn)),
  ]);
  if (Math.min(...built) <= Math.max(...changed)) {
    say('Building the widget…');
    const { bundle } = (await import(BUILD.href)) as WidgetBuild;
    await Promise.all(FILES.map((name) => bundle(name.replace(/\.js$/, ''))));
  }
  const texts = await Promise.all(outputs.map((file) => readFile(file, 'utf8')));
  return new Map(FILES.map((name, index) => [name, texts[index] ?? '']));
}

/** When anything in that file or folder changed last, in ms since 1970. */
async function newestIn(place: URL): Promise<number> {
  if (!place.href.endsWith('/')) return changedAt(place);
  const files = await readdir(fileURLToPath(place), { recursive: true });
  return Math.max(...(await Promise.all(files.map((file) => changedAt(new URL(file, place))))));
}

/** 0 for what is not there. */
async function changedAt(file: URL): Promise<number> {
  const found = await stat(file).catch(() => undefined);
  return found?.mtimeMs ?? 0;
}
