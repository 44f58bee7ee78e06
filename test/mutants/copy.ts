import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The scope of the project's own packages, which are links into the tree. */
const OWN_SCOPE = '@parley';

/**
 * Copies the working tree of `root` to `folder`, without what git ignores. Dependencies are links to those of `root`;
 * the project's own packages are those of the copy.
 */
export function copyTree(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const path of listed.split('\0').filter((each) => each !== '')) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    try {
      copyFileSync(join(root, path), join(folder, path));
    } catch (error) {
      // Git lists a file that was deleted and not yet committed.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  linkDependencies(join(root, 'node_modules'), join(folder, 'node_modules'));
  // A workspace that needs another version than the others has dependencies of its own.
  for (const own of listWorkspaces(root).map((path) => join(path, 'node_modules')))
    if (existsSync(join(root, own))) symlinkSync(join(root, own), join(folder, own));
}

/** Folders of the project's own packages, relative to `root`. */
function listWorkspaces(root: string): string[] {
  const scope = join(root, 'node_modules', OWN_SCOPE);
  return readdirSync(scope).map((name) => relative(root, realpathSync(join(scope, name))));
}

function linkDependencies(from: string, to: string): void {
  mkdirSync(join(to, OWN_SCOPE), { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== OWN_SCOPE && !name.startsWith('.vite')) symlinkSync(join(from, name), join(to, name));
  }
  // A workspace's link is relative (`../../shared`), so that the same link leads into the copy.
  for (const name of readdirSync(join(from, OWN_SCOPE)))
    execFileSync('cp', ['-P', join(from, OWN_SCOPE, name), join(to, OWN_SCOPE, name)]);
}
