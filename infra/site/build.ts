/**
 * `npm run site`: installs the generator into this folder, writes the pages for it, and builds them into dist/site.
 * `--serve` shows the result on this machine; other options, such as `--base /parley/`, are those of VitePress.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../test/harness/install-packages.ts';
import { stagePages } from './stage.ts';

const FOLDER = new URL('./', import.meta.url);
const ROOT = fileURLToPath(new URL('../../', FOLDER));
const OUT = `${ROOT}dist/site`;

await installPackages(FOLDER, (text) => process.stdout.write(`site: ${text}\n`));
stagePages(ROOT, fileURLToPath(new URL('pages', FOLDER)));
const options = process.argv.slice(2);
await vitepress('build', ...options.filter((option) => option !== '--serve'), '--outDir', OUT);
if (options.includes('--serve')) await vitepress('preview', '--outDir', OUT);

function vitepress(command: string, ...args: string[]): Promise<void> {
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
