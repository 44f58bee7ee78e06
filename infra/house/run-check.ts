import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listChangedFiles } from './changed-files.ts';
import { checkHouse, checkSuites, readSources, readTests } from './check-house.ts';

/**
 * `npm run check`: format, lint, types and house rules. Files that have passed before are not linted again, and types are
 * checked again only if they may have changed. `--all` checks everything.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const passedBefore = join(root, '.tmp/checked.json');
if (process.argv.includes('--all'))
  for (const kept of [passedBefore, join(root, '.tmp/types.tsbuildinfo')]) rmSync(kept, { force: true });

/** Runs a program from the project's packages and shows its output. Resolves to true if it succeeds. */
function run(program: string, ...args: string[]): Promise<boolean> {
  const child = spawn(join(root, 'node_modules/.bin', program), args, { cwd: root, stdio: 'inherit' });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

async function checkStyle(): Promise<boolean> {
  const { paths = ['.'], passed } = listChangedFiles(root, passedBefore);
  if (paths.length === 0) return true;
  const ok = await run('biome', 'ci', '--colors=off', '--no-errors-on-unmatched', ...paths);
  if (ok) passed();
  return ok;
}

async function checkTypes(): Promise<boolean> {
  // With several threads, each would check shared types again, which takes nearly twice the processor time.
  const ok = await run('tsc', '-p', 'tsconfig.json', '--singleThreaded');
  // The contenders in `npm run bench peers` import packages that are installed only for the bench.
  const hasPeers = existsSync(join(root, 'bench/peers/node_modules'));
  return ok && (!hasPeers || (await run('tsc', '--noEmit', '-p', 'bench/peers')));
}

function checkRooms(): boolean {
  const sources = readSources(root);
  const faults = [...checkHouse(sources), ...checkSuites(readTests(root))];
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.stdout.write(`house: ${sources.length} files, ${faults.length} violations\n`);
  return faults.length === 0;
}

const passed = await Promise.all([checkStyle(), checkTypes(), checkRooms()]);
process.exitCode = passed.every((each) => each) ? 0 : 1;
