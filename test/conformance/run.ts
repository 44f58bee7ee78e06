import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installKit } from './kit.ts';

/** `npm run conformance`: installs the conformance kit of MCP and runs its suites against two pods. */
const root = fileURLToPath(new URL('../../', import.meta.url));

await installKit((text) => process.stdout.write(`${text}\n`));
const args = ['vitest', 'run', '--project', 'pages', 'test/conformance/', ...process.argv.slice(2)];
spawn('npx', args, { cwd: root, stdio: 'inherit' }).once('exit', (code) => {
  process.exitCode = code ?? 1;
});
