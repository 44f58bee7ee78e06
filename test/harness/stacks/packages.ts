/** Independent clients and servers in a package of their own, so that the product's own packages stay few. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../install-packages.ts';
import { findNode, isNode } from '../recent-node.ts';

const FOLDER = new URL('./', import.meta.url);
/** What the packages that run as programs need. */
const NODE_MIN = 22;
/** Runs a turn with the runtime of acpx. */
export const ACPX_RUNNER = fileURLToPath(new URL('acpx-runner.mjs', FOLDER));

/** The Node and the script of a command. */
export interface StackCommand {
  readonly node: string;
  readonly script: string;
}

/** Installs the packages, and a Node for them unless this process runs on one. Rejects with the reason. */
export function installStacks(progress: (text: string) => void): Promise<void> {
  return installPackages(FOLDER, progress, { omit: isNode(NODE_MIN) });
}

/** A file of a package of this folder. */
export const stackPath = (file: string) => fileURLToPath(new URL(`node_modules/${file}`, FOLDER));

/** The script of a package; or why it cannot run. */
export function findStackCommand(file: string): StackCommand | { readonly notRun: string } {
  const script = stackPath(file);
  if (!existsSync(script)) return { notRun: `${file} is not installed; \`npm test\` installs it` };
  const node = findNode(NODE_MIN, FOLDER);
  if (node !== undefined) return { node, script };
  return { notRun: `${file} needs Node ${NODE_MIN}, and there is none for this system` };
}

/** The command of acpx. */
export const findAcpx = () => findStackCommand('acpx/dist/cli.js');

/** The command of MCP Inspector. */
export const findInspector = () =>
  findStackCommand('@modelcontextprotocol/inspector/clients/launcher/build/index.js');

/** Whether the packages are there. */
export const hasStacks = () => existsSync(stackPath('fastmcp/package.json'));

/** Imports a package of this folder as what a test uses of it: the check of types works without these packages, too. */
export async function loadStack<Module>(name: string): Promise<Module> {
  return (await import(name)) as Module;
}
