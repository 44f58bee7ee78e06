import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The size of what was installed in a folder. */
export interface InstalledSize {
  readonly megabytes: number;
  readonly files: number;
}

/** Adds up the files below `node_modules`. */
export async function installedSize(folder: string): Promise<InstalledSize> {
  const root = join(folder, 'node_modules');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
  );
  return { megabytes: sizes.reduce((sum, size) => sum + size, 0) / 1e6, files: files.length };
}
