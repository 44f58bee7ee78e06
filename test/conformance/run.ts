import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { installStacks } from '../harness/stacks/packages.ts';

/**
 * `npm run conformance`: installs the conformance kit of MCP and runs its suites against two pods. With `-- --server URL` the
 * server behind the pods is the one at that address. Other arguments are those of Vitest.
 */
const root = fileURLToPath(new URL('../../', import.meta.url));

await installStacks((text) => process.stdout.write(`${text}\n`));
const given = process.argv.slice(2);
const at = given.indexOf('--server');
const [, PARLEY_CONFORMANCE_SERVER] = at < 0 ? [] : given.splice(at, 2);
const args = ['vitest', 'run', '--project', 'pages', 'test/conformance/', ...given];
const env = { ...process.env, ...(PARLEY_CONFORMANCE_SERVER !== undefined && { PARLEY_CONFORMANCE_SERVER }) };
spawn('npx', args, { cwd: root, env, stdio: 'inherit' }).once('exit', (code) => {
  process.exitCode = code ?? 1;
});
