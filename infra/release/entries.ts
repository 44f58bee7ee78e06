import { relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { PackedPackage, PublishedManifest } from './packages.ts';

/** Packages whose entry points run in a browser. */
const BROWSER_PACKAGES = ['@parley/core', '@parley/sdk', '@parley/widget'];
/** Modules that belong to the page and are not counted. */
const OUTSIDE = ['ai', 'react'];

/**
 * The specifiers with which a program may import from a package, such as `@parley/sdk/chat`. A pattern is replaced by each of
 * its files.
 */
export function entriesOf(manifest: PublishedManifest, packed: PackedPackage): readonly string[] {
  return Object.entries(manifest.exports).flatMap(([path, target]) => {
    const file = typeof target === 'string' ? target : (target.default ?? '');
    if (!file.endsWith('.js')) return [];
    const [before = '', after = ''] = file.replace('./', '').split('*');
    if (!path.includes('*')) return [path.replace('.', manifest.name)];
    const matching = packed.files.filter((one) => one.path.startsWith(before) && one.path.endsWith(after));
    return matching.map((one) =>
      path.replace('.', manifest.name).replace('*', one.path.slice(before.length, -after.length)),
    );
  });
}

/** True if the entry points of a package run in a browser. */
export const isForBrowsers = (name: string): boolean => BROWSER_PACKAGES.includes(name);

/**
 * The size that each entry point adds to a page whose bundler minifies: bytes with gzip -9, including everything that it loads
 * at once. The packages must be installed in `folder`. Rejects if an entry point needs a module that browsers lack.
 */
export async function browserBytes(
  folder: string,
  entries: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const sizes = await Promise.all(
    entries.map(async (entry) => [entry, await bytesOf(folder, entry)] as const),
  );
  return new Map(sizes);
}

async function bytesOf(folder: string, entry: string): Promise<number> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `import * as all from '${entry}'; globalThis.all = all;`, resolveDir: folder },
    absWorkingDir: folder,
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: OUTSIDE.flatMap((name) => [name, `${name}/*`]),
    logLevel: 'silent',
  });
  const loaded = new Set(['stdin.js']);
  // The list grows during the loop. Modules that are imported on demand, such as another language, are not included.
  for (const file of loaded)
    for (const { path, kind, external } of metafile.outputs[file]?.imports ?? [])
      if (kind === 'import-statement' && external !== true) loaded.add(path);
  const code = outputFiles.filter(({ path }) => loaded.has(relative(folder, path)));
  return gzipSync(Buffer.concat(code.map(({ contents }) => contents)), { level: 9 }).length;
}
