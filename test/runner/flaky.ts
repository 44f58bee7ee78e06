import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findRedis } from '../harness/redis/find-redis.ts';
import { readCosts } from './costs.ts';
import { measureMachine, PACE_MAX } from './machine.ts';
import { followProcesses } from './process-tree.ts';
import { type Failure, failuresIn } from './results.ts';
import { ROOT } from './root.ts';
import { ending, runVitest } from './vitest.ts';

// `npm run flaky -- [FILE…] [--times 20]` runs test files again and again on a machine that has other things to do, and
// prints what failed how often, with its reasons. A test that fails here once judges the pace of the machine, or has found
// a fault.

const WHOLE = ['e2e', 'faults', 'attacks', 'browser', 'integration'].map((suite) => `test/${suite}/`);

const ONE_CORE = ['taskset', '-c', '0'];

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
const SPIN = `process.stdin.on('close', () => process.exit()).resume(); process.stdout.write('busy');
setInterval(() => { const end = Date.now() + 50; while (Date.now() < end); }, 0);`;

/** Starts busy processes, and waits until they are busy. Returns how to end them. */
async function keepBusy(count: number): Promise<() => void> {
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', SPIN], { stdio: ['pipe', 'pipe', 'ignore'] }),
  );
  await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
  return () => {
    for (const child of children) child.kill('SIGKILL');
  };
}

/** What failed in one round. */
async function round(condition: Condition, files: readonly string[], redisUrl: string): Promise<Failure[]> {
  const stop = await keepBusy(condition.busy * availableParallelism());
  const tree = followProcesses();
  try {
    const measured = await measureMachine();
    // The measure took all cores at once; on one of them the same work takes that many times as long.
    const machine =
      condition.isOneCore === true
        ? { cores: 1, pace: Math.min(PACE_MAX, measured.pace * measured.cores) }
        : measured;
    const { code, results } = await runVitest({
      args: files,
      wrap: condition.isOneCore === true ? ONE_CORE : [],
      env: { REDIS_URL: redisUrl, PARLEY_PROOF_SIZE: 'small' },
      machine,
      tree,
      costs: readCosts(),
      isQuiet: true,
    });
    if (results === undefined)
      return [{ what: 'vitest', why: `It wrote no results and ended with ${code}.` }];
    return failuresIn(results, ROOT);
  } finally {
    tree.stop();
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
  if (!hasTaskset)
    process.stdout.write('not run: rounds on one core: taskset cannot give core 0 to a process here\n');
  const conditions = CONDITIONS.filter(({ isOneCore }) => hasTaskset || isOneCore !== true);
  mkdirSync(join(ROOT, '.tmp'), { recursive: true });
  const redis = await findRedis();
  if ('notRun' in redis) throw new Error(redis.notRun);
  /** The reasons of each failure, by test. */
  const failed = new Map<string, string[]>();
  let rounds = 0;
  let isStopped = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isStopped = true));
  try {
    while (rounds < times) {
      const condition = conditions[rounds % conditions.length];
      if (condition === undefined) break;
      const startedAt = Date.now();
      const found = await round(condition, files, redis.url);
      if (isStopped) break;
      rounds += 1;
      for (const { what, why } of found) failed.set(what, [...(failed.get(what) ?? []), why]);
      const seconds = Math.round((Date.now() - startedAt) / 1000);
      process.stdout.write(
        [
          `round ${rounds} of ${times}, ${condition.name}: ${found.length} failed (${seconds} s)`,
          ...found.map(({ what }) => `    ${what}`),
          '',
        ].join('\n'),
      );
    }
  } finally {
    await redis.stop();
  }
  const lines = [...failed]
    .sort(([, one], [, other]) => other.length - one.length)
    .map(([what, reasons]) =>
      [`${reasons.length} of ${rounds}  ${what}`, ...new Set(reasons)].join('\n    '),
    );
  process.stdout.write(`\n${lines.length === 0 ? `nothing failed in ${rounds} rounds` : lines.join('\n')}\n`);
  return failed.size === 0 ? 0 : 1;
}

process.exitCode = await main();
