import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './bundle.ts';

interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** Writes the licences of the packages to which the files `inputs` belong. Their paths are relative to the repository. */
export async function writeThirdParty(inputs: readonly string[], file: string): Promise<void> {
  const folders = [...new Set(inputs.flatMap(packageFolder))].sort();
  const texts = await Promise.all(folders.map(describe));
  // A package may be installed at several places.
  await writeFile(file, [...new Set(texts)].join(`\n${'-'.repeat(80)}\n\n`));
}

function packageFolder(path: string): string[] {
  const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [];
  return folder === undefined ? [] : [folder];
}

async function describe(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(join(ROOT, folder, 'package.json'), 'utf8')) as PackageManifest;
  const entries = await readdir(join(ROOT, folder), { withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && /^(?:licen[cs]e|notice|copying)/i.test(entry.name),
  );
  const names = files.map(({ name }) => name).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(ROOT, folder, name), 'utf8')));
  if (manifest.license === undefined && texts.length === 0)
    throw new Error(`The package ${manifest.name} names no licence.`);
  const heading = `${manifest.name} ${manifest.version} (${manifest.license ?? 'see below'})`;
  return [heading, ...texts.map((text) => text.trim())].join('\n\n').concat('\n');
}
