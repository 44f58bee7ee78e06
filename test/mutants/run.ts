import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedis } from '../harness/redis/find-redis.ts';
import { copyTree } from './copy.ts';
import { MUTANTS } from './list.ts';
import type { Mutant } from './mutant.ts';

// `npm run mutants -- [PART…]` writes each planted defect into a copy of the tree, one at a time, and runs the test that
// must fail on it. The command fails when a defect survives, when the test fails without the defect, or when the text that
// the defect replaces is not in the file exactly once.

const root = fileURLToPath(new URL('../..', import.meta.url));
const tree = join(root, '.tmp/mutants');
/** A defect may keep a process busy for ever. Its test has failed when it has not ended after this time. */
const TEST_MS_MAX = 4 * 60_000;

type Verdict = 'passed' | 'failed' | 'did not end' | 'ran no test';

interface Ran {
  readonly verdict: Verdict;
  /** The last lines that the test printed. */
  readonly said: string;
}

/** Runs the test of a mutant in the copy. A defect that does not compile runs no test, which proves nothing. */
function runTest({ killedBy, test }: Mutant, redisUrl: string): Ran {
  const results = join(tree, '.tmp/mutant.json');
  mkdirSync(join(tree, '.tmp'), { recursive: true });
  writeFileSync(results, '{}');
  const only = test === undefined ? [] : ['-t', test];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`];
  const args = [
    join(root, 'node_modules/vitest/vitest.mjs'),
    'run',
    '--bail=1',
    ...reporters,
    killedBy,
    ...only,
  ];
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: tree,
    encoding: 'utf8',
    env: { ...process.env, REDIS_URL: redisUrl, NO_COLOR: '1' },
    timeout: TEST_MS_MAX,
    killSignal: 'SIGKILL',
    maxBuffer: 256 * 1024 * 1024,
  });
  const said = `${stdout}${stderr}`.split('\n').slice(-30).join('\n');
  if (signal !== null) return { verdict: 'did not end', said };
  const { numPassedTests = 0, numFailedTests = 0 } = JSON.parse(readFileSync(results, 'utf8')) as {
    numPassedTests?: number;
    numFailedTests?: number;
  };
  if (numPassedTests + numFailedTests === 0) return { verdict: 'ran no test', said };
  return { verdict: status === 0 ? 'passed' : 'failed', said };
}

/** Why the mutant is no proof; undefined when its test fails with the defect and passes without it. */
function judge(mutant: Mutant, redisUrl: string, runWhole: (mutant: Mutant) => Ran): string | undefined {
  const file = join(tree, mutant.file);
  const text = readFileSync(file, 'utf8');
  if (text.split(mutant.find).length !== 2)
    return `${mutant.file} does not hold the text to replace exactly once`;
  const whole = runWhole(mutant);
  if (whole.verdict !== 'passed')
    return `${mutant.killedBy}, without the defect, ${whole.verdict}:\n${whole.said}`;
  writeFileSync(
    file,
    text.replace(mutant.find, () => mutant.replace),
  );
  try {
    const { verdict, said } = runTest(mutant, redisUrl);
    if (verdict === 'failed' || verdict === 'did not end') return undefined;
    return `${mutant.killedBy}, with the defect, ${verdict}${verdict === 'passed' ? '' : `:\n${said}`}`;
  } finally {
    writeFileSync(file, text);
  }
}

async function main(): Promise<number> {
  const parts = process.argv.slice(2);
  const unknown = parts.filter((part) => !(part in MUTANTS));
  if (unknown.length > 0) {
    process.stderr.write(`no part ${unknown.join(', ')}; the parts are ${Object.keys(MUTANTS).join(', ')}\n`);
    return 1;
  }
  const chosen = Object.entries(MUTANTS).filter(([part]) => parts.length === 0 || parts.includes(part));
  const redis = await findRedis();
  if ('notRun' in redis) throw new Error(redis.notRun);
  copyTree(root, tree);
  const known = new Map<string, Ran>();
  let survivors = 0;
  let count = 0;
  const runWhole = (mutant: Mutant): Ran => {
    const key = `${mutant.killedBy} ${mutant.test ?? ''}`;
    const ran = known.get(key) ?? runTest(mutant, redis.url);
    known.set(key, ran);
    return ran;
  };
  try {
    for (const [part, mutants] of chosen) {
      for (const mutant of mutants) {
        const fault = judge(mutant, redis.url, runWhole);
        count += 1;
        if (fault !== undefined) survivors += 1;
        const verdict = fault === undefined ? 'killed  ' : 'SURVIVED';
        process.stdout.write(
          `${verdict} ${part}: ${mutant.defect}${fault === undefined ? '' : `\n${fault}`}\n`,
        );
      }
    }
  } finally {
    await redis.stop();
  }
  process.stdout.write(`${count} defects, ${survivors} survived\n`);
  return survivors === 0 ? 0 : 1;
}

process.exitCode = await main();
