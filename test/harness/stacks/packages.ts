import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../install-packages.ts';
import { findNode, isNode } from '../recent-node.ts';

const FOLDER = new URL('./', import.meta.url);
const CLI = fileURLToPath(new URL('node_modules/acpx/dist/cli.js', FOLDER));
/** Runs a turn with the runtime of acpx. */
export const RUNNER = fileURLToPath(new URL('runner.mjs', FOLDER));
const NODE_MIN = 22;

/** The Node and the command of acpx. */
export interface Acpx {
  readonly node: string;
  readonly cli: string;
}

/** Installs acpx, and a Node for it unless this process runs on one. Rejects with the reason. */
export function installAcpx(progress: (text: string) => void): Promise<void> {
  return installPackages(FOLDER, progress, { omit: isNode(NODE_MIN) });
}

/** acpx; or why it cannot run. */
export function findAcpx(): Acpx | { readonly notRun: string } {
  if (!existsSync(CLI)) return { notRun: 'acpx is not installed; `npm test` installs it' };
  const node = findNode(NODE_MIN, FOLDER);
  if (node !== undefined) return { node, cli: CLI };
  return { notRun: `acpx needs Node ${NODE_MIN}, and there is none for this system` };
}
