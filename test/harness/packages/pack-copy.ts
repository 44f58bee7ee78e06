import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { type PackedPackage, PUBLISHED, packAll, ROOT } from '../../../infra/release/packages.ts';

const MODULES = join(ROOT, 'node_modules');
/** What the packages are built from. */
const BUILT_FROM = ['shared', 'services/api', 'services/worker', 'clients/console', ...PUBLISHED];
const MAKERS = ['infra/bundle', 'package.json', 'tsconfig.base.json', 'LICENSE'];

/**
 * Packs the published packages from a copy of the sources in `folder`, so that the builds affect no other test. Returns them
 * as `npm pack` wrote them into `folder/tarballs`.
 */
export async function packCopy(folder: string): Promise<readonly PackedPackage[]> {
  const copy = join(folder, 'sources');
  await copySources(copy);
  return packAll(copy, join(folder, 'tarballs'));
}

async function copySources(copy: string): Promise<void> {
  const isSource = (path: string) => !/(?:^|\/)(?:dist|node_modules|LICENSE)$/.test(path.slice(ROOT.length));
  for (const path of BUILT_FROM)
    await cp(join(ROOT, path), join(copy, path), { recursive: true, filter: isSource });
  for (const path of MAKERS) await cp(join(ROOT, path), join(copy, path), { recursive: true });
  // The type check of the repository judges these sources. The build writes the same without it.
  const options = join(copy, 'tsconfig.base.json');
  const text = await readFile(options, 'utf8');
  await writeFile(options, text.replace('"compilerOptions": {', '"compilerOptions": { "noCheck": true,'));
  await mkdir(join(copy, 'node_modules/@parley'), { recursive: true });
  for (const name of await readdir(MODULES))
    if (name !== '@parley') await symlink(join(MODULES, name), join(copy, 'node_modules', name));
  for (const path of BUILT_FROM) {
    await symlink(join(copy, path), join(copy, 'node_modules/@parley', basename(path)));
    // Versions that a package does not share with the others.
    const own = join(ROOT, path, 'node_modules');
    const hasOwn = await readdir(own).catch(() => []);
    if (hasOwn.length > 0) await symlink(own, join(copy, path, 'node_modules'));
  }
}
