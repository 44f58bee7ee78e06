import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkHouse, checkSuites, readSources, readTests } from './check-house.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readSources(root);
const faults = [...checkHouse(sources), ...checkSuites(readTests(root))];
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.stdout.write(`house: ${sources.length} files, ${faults.length} violations\n`);
// The contenders of `npm run bench peers` import packages that only the bench installs.
const peers = join(root, 'bench', 'peers');
const peerTypes = existsSync(join(peers, 'node_modules'))
  ? spawnSync('npx', ['tsc', '--noEmit', '-p', peers], { cwd: root, stdio: 'inherit' }).status
  : 0;
process.exitCode = faults.length === 0 && peerTypes === 0 ? 0 : 1;
