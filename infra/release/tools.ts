import { fileURLToPath } from 'node:url';
import { installPackages, isInstalled } from '../../test/harness/install-packages.ts';

const FOLDER = new URL('./', import.meta.url);

/** The scripts of the tools, which are dependencies of the package in this folder. */
const SCRIPTS = {
  attw: '@arethetypeswrong/cli/dist/index.js',
  pnpm: 'pnpm/bin/pnpm.cjs',
  publint: 'publint/src/cli.js',
  'release-it': 'release-it/bin/release-it.js',
  verdaccio: 'verdaccio/bin/verdaccio',
  yarn: '@yarnpkg/cli-dist/bin/yarn.js',
} as const;
export type Tool = keyof typeof SCRIPTS;

/** The major versions of Node with which the packages are tested. */
export const NODES = [20, 22, 24] as const;

/** Installs the tools, and with `nodes` every Node, unless they are already installed. Rejects with the reason. */
export function installTools(progress: (text: string) => void, { nodes = false } = {}): Promise<void> {
  return installPackages(FOLDER, progress, { omit: !nodes });
}

/** True if the tools are installed, and with `nodes` also every Node. */
export const hasTools = ({ nodes = false } = {}): Promise<boolean> => isInstalled(FOLDER, !nodes);

/** The path of a tool's script. */
export const toolScript = (tool: Tool): string => pathOf(SCRIPTS[tool]);

/** The path of the Node with that major version. */
export const nodePath = (major: (typeof NODES)[number]): string => pathOf(`node-${major}/bin/node`);

function pathOf(file: string): string {
  return fileURLToPath(new URL(`node_modules/${file}`, FOLDER));
}
