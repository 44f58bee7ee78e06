import { execFile } from 'node:child_process';
import { mkdir, rename, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The folders that the services of a build are made from, and the packages in them. */
const PACKAGES = { shared: 'shared', api: 'services/api', worker: 'services/worker' } as const;
const run = promisify(execFile);

/**
 * Unpacks an older commit below this repository, where its sources find the installed dependencies, and returns its path
 * relative to the repository. Returns why that is not possible where the history does not reach back so far.
 */
export async function olderTree(
  commit: string,
): Promise<{ readonly root: string } | { readonly missing: string }> {
  try {
    await run('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: ROOT });
  } catch {
    return { missing: `the commit ${commit} is not here; the clone may be shallow` };
  }
  const root = join('.tmp/older', commit);
  const known = await stat(join(ROOT, root)).catch(() => undefined);
  if (known === undefined) await unpack(commit, join(ROOT, root));
  return { root };
}

async function unpack(commit: string, folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await mkdir(join(draft, 'node_modules/@parley'), { recursive: true });
  const archive = `${draft}.tar`;
  await run('git', ['archive', '-o', archive, commit, 'shared', 'services'], { cwd: ROOT });
  await run('tar', ['-xf', archive, '-C', draft]);
  await rm(archive);
  for (const [name, path] of Object.entries(PACKAGES))
    await symlink(join('../..', path), join(draft, 'node_modules/@parley', name));
  // Another process may have been faster.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true, force: true }));
}
