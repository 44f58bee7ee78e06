import { spawn } from 'node:child_process';
import { ROOT } from './packages.ts';
import { installTools, toolScript } from './tools.ts';

/*
 * npm run release -- minor
 *
 * Runs release-it with `release-it.json`. It sets one version in all packages and in everything that names it, writes
 * the heading in the changelog, makes and checks the packages, and creates a commit and a tag. It publishes nothing;
 * `npm run publish:packages` does that.
 */
await installTools((text) => void process.stdout.write(`${text}\n`));
const args = ['--config', 'infra/release/release-it.json', ...process.argv.slice(2)];
const child = spawn(process.execPath, [toolScript('release-it'), ...args], { cwd: ROOT, stdio: 'inherit' });
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
