import { spawn } from 'node:child_process';
import { ROOT } from './packages.ts';
import { installTools, toolScript } from './tools.ts';

/*
 * npm run release -- minor
 *
 * release-it, with `release-it.json`: one version for all packages and everything that names it, the heading of the changelog, the
 * packages with their checks, a commit and a tag. It publishes nothing: `npm run publish:packages` does.
 */
await installTools((text) => void process.stdout.write(`${text}\n`));
const args = ['--config', 'infra/release/release-it.json', ...process.argv.slice(2)];
const child = spawn(process.execPath, [toolScript('release-it'), ...args], { cwd: ROOT, stdio: 'inherit' });
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
