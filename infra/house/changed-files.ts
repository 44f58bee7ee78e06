import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Files that determine how every other file is checked. */
const JUDGES = ['biome.json', 'package-lock.json'];

interface ChangedFiles {
  /**
   * Files, relative to the repository, whose contents differ from those that last passed. Undefined if everything must be
   * checked: nothing has passed here yet, one of `JUDGES` has changed, or git cannot list the files.
   */
  readonly paths: readonly string[] | undefined;
  /** Records that all files passed with the contents that they had when they were listed. */
  passed(): void;
}

/** Lists what has changed since the last successful check, which the file `stamp` records. */
export function listChangedFiles(root: string, stamp: string): ChangedFiles {
  const now = digests(root);
  const before = readStamp(stamp);
  const isWhole = now === undefined || JUDGES.some((path) => before[path] !== now[path]);
  return {
    paths: isWhole ? undefined : Object.keys(now).filter((path) => before[path] !== now[path]),
    passed() {
      mkdirSync(dirname(stamp), { recursive: true });
      writeFileSync(stamp, JSON.stringify(now ?? {}));
    },
  };
}

function readStamp(stamp: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readFileSync(stamp, 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}

/** A digest of each file that git does not ignore; undefined if git cannot list them. */
function digests(root: string): Readonly<Record<string, string>> | undefined {
  let listed: string;
  try {
    const args = ['ls-files', '-co', '--exclude-standard', '-z'];
    listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  } catch {
    return undefined;
  }
  const found: Record<string, string> = {};
  for (const path of new Set(listed.split('\0'))) {
    try {
      found[path] = createHash('sha256')
        .update(readFileSync(join(root, path)))
        .digest('base64');
    } catch {
      // The name is empty, or belongs to a link to a folder or to a deleted file that is not yet committed.
    }
  }
  return found;
}
