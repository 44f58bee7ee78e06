import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../test/harness/install-packages.ts';
import { stagePages } from './stage.ts';

const FOLDER = new URL('./', import.meta.url);
const ROOT = fileURLToPath(new URL('../../', FOLDER));
/** The folder of the built site, as in `.vitepress/config.ts`. */
export const SITE_FOLDER = `${ROOT}dist/site`;

/** Installs the generator into this folder, unless it is already installed. Rejects with npm's reason. */
export function installGenerator(progress: (text: string) => void): Promise<void> {
  return installPackages(FOLDER, (text) => progress(`site: ${text}`));
}

/** Builds the site into `SITE_FOLDER`. Rejects if a page has a fault, such as a broken link. */
export async function buildSite(options: readonly string[] = []): Promise<void> {
  stagePages(ROOT, fileURLToPath(new URL('pages', FOLDER)));
  await vitepress('build', ...options);
}

/** Serves the built site on this machine, until the process ends. */
export function serveSite(): Promise<void> {
  return vitepress('preview');
}

function vitepress(command: string, ...args: readonly string[]): Promise<void> {
  const program = fileURLToPath(new URL('node_modules/vitepress/bin/vitepress.js', FOLDER));
  const child = spawn(process.execPath, [program, command, fileURLToPath(FOLDER), ...args], {
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`vitepress ${command} ended with ${code}`)),
    );
  });
}
