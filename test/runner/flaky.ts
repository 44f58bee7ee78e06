import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findRedis } from '../harness/redis/find-redis.ts';
import { readCosts } from './costs.ts';
import { measureMachine } from './machine.ts';
import { createProcessTree } from './process-tree.ts';
import { failuresIn } from './results.ts';
import { ROOT } from './root.ts';
import { ending, runVitest } from './vitest.ts';

/**
 * `npm run flaky -- [FILE…] [--times 20]`: runs test files again and again on a machine that has other things to do, and
 * prints what failed how often, with its reason. A test that fails here once judges the pace of the machine, or has found
 * a fault.
 */
const WHOLE = ['e2e', 'faults', 'attacks', 'browser', 'integration'].map((suite) => `test/${suite}/`);

interface Condition {
  readonly name: string;
  /** Busy processes for each core. */
  readonly busy: number;
  readonly isOneCore?: boolean;
}

/** The rounds take turns. */
const CONDITIONS: readonly Condition[] = [
  { name: 'beside a busy process on each core', busy: 1 },
  { name: 'beside two busy processes on each core', busy: 2 },
  { name: 'on one core', busy: 0, isOneCore: true },
];

// It ends with the process that started it, because its standard input is then closed.
const SPIN = `process.stdin.on('close', () => process.exit()).resume(); setInterval(() => { const end = Date.now() + 50; while (Date.now() < end); }, 0);`;

/** Starts busy processes. Returns how to end them. */
function keepBusy(count: number): () => void {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', SPIN], { stdio: ['pipe', 'ignore', 'ignore'] }),
  );
  return () => {
    for (const child of children) child.kill('SIGKILL');
  };
}

/** What failed in one round. */
async function round(condition: Condition, files: readonly string[], redisUrl: string): Promise<string[]> {
  const stop = keepBusy(condition.busy * availableParallelism());
  try {
    const machine = await measureMachine();
    const { code, results } = await runVitest({
      args: files,
      wrap: condition.isOneCore === true ? ['taskset', '-c', '0'] : [],
      env: { REDIS_URL: redisUrl, PARLEY_PROOF_SIZE: 'small' },
      machine: condition.isOneCore === true ? { cores: 1, pace: machine.pace * machine.cores } : machine,
      tree: createProcessTree(),
      costs: readCosts(),
      isQuiet: true,
    });
    if (results === undefined) return [`vitest wrote no results and ended with ${code}`];
    return failuresIn(results, ROOT).map(
      ({ what, why }) => `${what}\n    ${why.split('\n').slice(0, 3).join('\n    ')}`,
    );
  } finally {
    stop();
  }
}

function isPositive(count: number): boolean {
  return Number.isInteger(count) && count > 0;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { times: { type: 'string', default: '20' } },
  });
  const times = Number(values.times);
  if (!isPositive(times)) {
    process.stderr.write('--times takes a whole number from 1\n');
    return 1;
  }
  const files = positionals.length > 0 ? positionals : WHOLE;
  const hasTaskset = (await ending(spawn('taskset', ['-c', '0', 'true'], { stdio: 'ignore' }))) === 0;
  if (!hasTaskset) process.stdout.write('not run: rounds on one core; there is no taskset\n');
  const conditions = CONDITIONS.filter(({ isOneCore }) => hasTaskset || isOneCore !== true);
  mkdirSync(join(ROOT, '.tmp'), { recursive: true });
  const redis = await findRedis();
  if ('notRun' in redis) throw new Error(redis.notRun);
  const failed = new Map<string, number>();
  try {
    for (let at = 0; at < times; at += 1) {
      const condition = conditions[at % conditions.length];
      if (condition === undefined) break;
      const startedAt = Date.now();
      const found = await round(condition, files, redis.url);
      for (const each of found) failed.set(each, (failed.get(each) ?? 0) + 1);
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      process.stdout.write(
        `round ${at + 1} of ${times}, ${condition.name}: ${found.length} failed (${seconds} s)\n`,
      );
    }
  } finally {
    await redis.stop();
  }
  const lines = [...failed]
    .sort(([, one], [, other]) => other - one)
    .map(([what, count]) => `${count} of ${times}  ${what}`);
  process.stdout.write(`\n${lines.length === 0 ? `nothing failed in ${times} rounds` : lines.join('\n')}\n`);
  return failed.size === 0 ? 0 : 1;
}

process.exitCode = await main();
