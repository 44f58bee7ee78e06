import { linkSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Makes a folder that holds what another holds, as hard links: thousands of installed files take no room and hardly any time.
 * Nobody may write into these files. `isWanted` is asked for each path of the other folder.
 */
export function linkTree(from: string, to: string, isWanted = (_path: string): boolean => true): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (!isWanted(source)) continue;
    if (entry.isDirectory()) linkTree(source, target, isWanted);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else linkSync(source, target);
  }
}
