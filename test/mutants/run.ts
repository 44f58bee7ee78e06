import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedis } from '../harness/redis/find-redis.ts';
import { copyTree } from './copy.ts';
import { MUTANTS } from './list.ts';
import type { Mutant } from './mutant.ts';

/**
 * `npm run mutants -- [PART…]`: writes each planted defect into a copy of the tree, one at a time, and runs the test
 * that must fail on it. Fails when a defect survives, when the test fails without the defect, or when the text that it
 * replaces is not in the file exactly once.
 */
const root = fileURLToPath(new URL('../..', import.meta.url));
const tree = join(root, '.tmp/mutants');

/** Whether the test file passes in the copy, and the last lines that it printed. */
function runTest(
  { killedBy, test }: Mutant,
  redisUrl: string,
): { readonly passed: boolean; readonly said: string } {
  const only = test === undefined ? [] : ['-t', test];
  const { status, stdout, stderr } = spawnSync('npx', ['vitest', 'run', '--bail=1', killedBy, ...only], {
    cwd: tree,
    encoding: 'utf8',
    env: { ...process.env, REDIS_URL: redisUrl, NO_COLOR: '1' },
  });
  return { passed: status === 0, said: `${stdout}${stderr}`.split('\n').slice(-30).join('\n') };
}

/** Why the mutant is no proof; undefined when its test fails with the defect and passes without it. */
function judge(
  mutant: Mutant,
  redisUrl: string,
  passesWhole: (mutant: Mutant) => boolean,
): string | undefined {
  const file = join(tree, mutant.file);
  const text = readFileSync(file, 'utf8');
  if (text.split(mutant.find).length !== 2)
    return `${mutant.file} does not hold the text to replace exactly once`;
  if (!passesWhole(mutant)) return `${mutant.killedBy} fails, or runs nothing, without the defect`;
  writeFileSync(
    file,
    text.replace(mutant.find, () => mutant.replace),
  );
  try {
    return runTest(mutant, redisUrl).passed ? `${mutant.killedBy} passes with the defect` : undefined;
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
  const whole = new Map<string, boolean>();
  let survivors = 0;
  let count = 0;
  const passesWhole = (mutant: Mutant): boolean => {
    const key = `${mutant.killedBy} ${mutant.test ?? ''}`;
    const known = whole.get(key) ?? runTest(mutant, redis.url).passed;
    whole.set(key, known);
    return known;
  };
  try {
    for (const [part, mutants] of chosen) {
      for (const mutant of mutants) {
        const fault = judge(mutant, redis.url, passesWhole);
        count += 1;
        if (fault !== undefined) survivors += 1;
        process.stdout.write(
          `${fault === undefined ? 'killed  ' : 'SURVIVED'} ${part}: ${mutant.defect}${fault === undefined ? '' : `\n         ${fault}`}\n`,
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
