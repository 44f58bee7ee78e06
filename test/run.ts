import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { installKit } from './conformance/kit.ts';
import { installAcpx } from './harness/acpx/acpx.ts';
import { ensurePrograms } from './harness/ensure-programs.ts';
import { findRedis } from './harness/redis/find-redis.ts';
import { redisVersion } from './harness/redis/redis-command.ts';
import { type Costs, readCosts, writeCosts } from './runner/costs.ts';
import { type Machine, measureMachine } from './runner/machine.ts';
import { type RunOptions, readOptions, USAGE } from './runner/options.ts';
import { createProcessTree, type ProcessTree, RUNNER } from './runner/process-tree.ts';
import { type Results, wallSeconds } from './runner/results.ts';
import { ROOT } from './runner/root.ts';
import { forgetProofs, writeSoakReport } from './runner/soak-report.ts';
import { costLine, endOf, linesOf, type Outcome } from './runner/summary.ts';
import { ending, runVitest } from './runner/vitest.ts';

/**
 * `npm test`: every proof at a size for every day. `npm run soak`: the same proofs at full size, with a report. Finds a
 * Redis first, and the programs that judge the shipped files, and says which; what cannot run here says "not run" and
 * never passes for it.
 */
const NODE = [process.execPath, '--conditions=parley-source', '--import', 'tsx'];

/** Each uses one core for most of its time. They run side by side. */
const CHECKS: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: 'format, lint, types, house rules', command: ['npm', 'run', '--silent', 'check'] },
  // Its build fails when the card is too large, or holds what a strict page refuses.
  {
    name: 'the widget, built and weighed',
    command: ['npm', 'run', '--silent', 'build', '-w', 'clients/widget'],
  },
  { name: 'infrastructure files', command: [...NODE, 'infra/check.ts'] },
];

const print = (text: string) => void process.stdout.write(`${text}\n`);

async function timed(name: string, work: () => Promise<number>): Promise<Outcome> {
  const startedAt = Date.now();
  const code = await work();
  return { name, code, seconds: Math.round((Date.now() - startedAt) / 1000) };
}

/** Runs a check, and prints what it said once it has ended. */
async function runCheck({
  name,
  command: [program = '', ...args],
}: (typeof CHECKS)[number]): Promise<number> {
  const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  const code = await ending(child);
  print(`\n== ${name}\n${output.join('')}`);
  return code;
}

async function install(): Promise<void> {
  await ensurePrograms(print);
  await installKit(print).catch((error: unknown) => print(`not run: the conformance kit of MCP: ${error}`));
  await installAcpx(print).catch((error: unknown) => print(`not run: acpx: ${error}`));
}

/** What a run found. */
interface Found {
  readonly outcomes: readonly Outcome[];
  /** Undefined when the tests were not run, because a check had failed. */
  readonly proofs?: { readonly machine: Machine; readonly results: Results | undefined };
}

async function runAll(
  { filters, isSoak }: RunOptions,
  env: Record<string, string>,
  tree: ProcessTree,
  costs: Costs,
): Promise<Found> {
  const outcomes =
    filters.length > 0
      ? []
      : await Promise.all(CHECKS.map((check) => timed(check.name, () => runCheck(check))));
  // The proofs tell nothing more while the sources themselves are broken.
  if (outcomes.some(({ code }, at) => at === 0 && code !== 0)) return { outcomes };
  const machine = await measureMachine();
  const name = isSoak ? 'proofs at full size' : 'proofs';
  print(`\n== ${name}, on ${describe(machine)}`);
  let results: Results | undefined;
  const outcome = await timed(name, async () => {
    const run = await runVitest({ args: filters, env, machine, tree, costs });
    results = run.results;
    return run.code;
  });
  return { outcomes: [...outcomes, outcome], proofs: { machine, results } };
}

function describe({ cores, pace }: Machine): string {
  return `${cores} ${cores === 1 ? 'core' : 'cores'} that ${pace < 1.2 ? 'are as fast as the reference' : `take ${pace.toFixed(1)} times as long as the reference`}`;
}

async function main(options: RunOptions): Promise<number> {
  const startedAt = Date.now();
  const tree = createProcessTree();
  const sampling = setInterval(() => tree.sample(), 500);
  const costs = readCosts();
  mkdirSync(join(ROOT, '.tmp'), { recursive: true });
  forgetProofs();
  if (!options.isQuick) await install();
  const redis = options.isQuick ? undefined : await findRedis();
  if (redis !== undefined && 'notRun' in redis) {
    process.stderr.write(
      `not run: ${redis.notRun}\nSet REDIS_URL, or install redis-server 7 or Docker, and try again.\n`,
    );
    clearInterval(sampling);
    return 1;
  }
  const env = {
    PARLEY_PROOF_SIZE: options.isSoak ? 'full' : 'small',
    ...(redis && { REDIS_URL: redis.url }),
  };
  const version = redis && (await redisVersion(redis.url));
  const found = await runAll(options, env, tree, costs).finally(async () => {
    clearInterval(sampling);
    await redis?.stop();
  });
  const tookMs = Date.now() - startedAt;
  const results = found.proofs?.results;
  if (options.isSoak) writeSoakReport(found.outcomes, `Redis ${version}`, tookMs, results);
  if (options.isRecord && results !== undefined) record(results, tree, found.proofs?.machine.pace ?? 1);
  print(`\n${costLine(tree.use(), tookMs)}\n${linesOf(found.outcomes).join('\n')}`);
  if (redis !== undefined) print(`Redis: ${redis.how}`);
  print(endOf(results));
  return results !== undefined && found.outcomes.every(({ code }) => code === 0) ? 0 : 1;
}

function record(results: Results, tree: ProcessTree, pace: number): void {
  const { seconds } = tree.use();
  const files = [...wallSeconds(results, ROOT)].map(
    ([file, wall]) => [file, [seconds.get(file) ?? 0, wall]] as const,
  );
  writeCosts({ pace, runner: seconds.get(RUNNER) ?? 0, files: Object.fromEntries(files) });
}

/** What the command line asks for; undefined, with the usage on stderr, when it asks for nothing that there is. */
function optionsOf(args: readonly string[]): RunOptions | undefined {
  try {
    return readOptions(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
    return undefined;
  }
}

const options = optionsOf(process.argv.slice(2));
process.exitCode = options === undefined ? 1 : await main(options);
