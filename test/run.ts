import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { diagnose } from '@parley/shared/redis/diagnosis/diagnose';

import { installTools } from '../infra/release/tools.ts';
import { ensurePrograms } from './harness/ensure-programs.ts';
import { bundleEntry } from './harness/processes/bundle.ts';
import { findRedis } from './harness/redis/find-redis.ts';
import { installStacks } from './harness/stacks/packages.ts';
import { type Costs, estimateAll, readCosts, writeCosts } from './runner/costs.ts';
import { type Machine, measureMachine } from './runner/machine.ts';
import { type RunOptions, readOptions, USAGE } from './runner/options.ts';
import { followProcesses, type ProcessTree, RUNNER } from './runner/process-tree.ts';
import { ROOT } from './runner/root.ts';
import { forgetProofs, writeSoakReport } from './runner/soak-report.ts';
import { costLine, endOf, linesOf, type Outcome } from './runner/summary.ts';
import { ending, runVitest, type VitestEnd } from './runner/vitest.ts';

// `npm test` runs every proof at a size for every day, `npm run soak` the same proofs at full size, with a report. Both look
// for a Redis and for the programs that judge the shipped files first, and say which they take. What cannot run here is
// listed as not run, and never passes for a proof.

/** Each uses one core for most of its time. They run side by side. */
const CHECKS: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: 'format, lint, types, house rules', command: ['npm', 'run', '--silent', 'check'] },
  // Its build fails when the card is too large, or holds what a strict page refuses.
  {
    name: 'the widget, built and weighed',
    command: ['npm', 'run', '--silent', 'build', '-w', 'clients/widget'],
  },
  {
    name: 'the console, built and weighed',
    command: ['npm', 'run', '--silent', 'build', '-w', 'clients/console'],
  },
];

/** What nearly every pod of a test file starts from. */
const PROGRAMS = ['services/api/src/main.ts', 'services/worker/src/main.ts', 'clients/cli/src/main.ts'];

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

async function install(isSoak: boolean): Promise<void> {
  await ensurePrograms(print, { builders: isSoak });
  await installTools(print, { nodes: isSoak }).catch((error: unknown) =>
    print(`not run: the packages, as they are published and installed: ${error}`),
  );
  await installStacks(print).catch((error: unknown) =>
    print(`not run: the conformance kit of MCP, independent clients and servers: ${error}`),
  );
}

/** What a run found. */
interface Found {
  readonly outcomes: readonly Outcome[];
  /** Undefined when the tests were not run, because a check had failed. */
  readonly proofs?: VitestEnd;
}

async function runAll(
  { filters, isSoak }: RunOptions,
  machine: Machine,
  env: Record<string, string>,
  tree: ProcessTree,
  costs: Costs,
): Promise<Found> {
  const outcomes =
    filters.length > 0
      ? []
      : await Promise.all(CHECKS.map((check) => timed(check.name, () => runCheck(check))));
  const [sources] = outcomes;
  // The proofs tell nothing more while the sources themselves are broken.
  if (sources !== undefined && sources.code !== 0) return { outcomes };
  // Test files that begin together would each build what they all start from.
  if (filters.length === 0) for (const entry of PROGRAMS) await bundleEntry(entry);
  const name = isSoak ? 'proofs at full size' : 'proofs';
  print(`\n== ${name}`);
  let proofs: VitestEnd | undefined;
  const outcome = await timed(name, async () => {
    proofs = await runVitest({ args: filters, env, machine, tree, costs });
    return proofs.code;
  });
  return { outcomes: [...outcomes, outcome], ...(proofs && { proofs }) };
}

function announce({ filters, isSoak }: RunOptions, machine: Machine, costs: Costs): void {
  const { cores, pace } = machine;
  const speed = pace < 1.2 ? 'as fast as the reference' : `${pace.toFixed(1)} times as slow as the reference`;
  print(`${cores} ${cores === 1 ? 'core' : 'cores'}, ${speed}`);
  if (filters.length === 0 && !isSoak)
    print(`about ${Math.ceil(estimateAll(costs, machine) / 60)} minutes, checks included`);
}

async function main(options: RunOptions): Promise<number> {
  const startedAt = Date.now();
  const costs = readCosts();
  const machine = await measureMachine();
  announce(options, machine, costs);
  mkdirSync(join(ROOT, '.tmp'), { recursive: true });
  forgetProofs();
  const tree = followProcesses();
  if (!options.isQuick) await install(options.isSoak);
  const redis = options.isQuick ? undefined : await findRedis();
  if (redis !== undefined && 'notRun' in redis) {
    process.stderr.write(
      `not run: ${redis.notRun}\nSet REDIS_URL, or install redis-server 7 or Docker, and try again.\n`,
    );
    tree.stop();
    return 1;
  }
  const env = {
    PARLEY_PROOF_SIZE: options.isSoak ? 'full' : 'small',
    ...(redis && { REDIS_URL: redis.url }),
  };
  const server = redis && (await diagnose({ kind: 'single', url: redis.url })).server;
  const found = await runAll(options, machine, env, tree, costs).finally(async () => {
    tree.stop();
    await redis?.stop();
  });
  const tookMs = Date.now() - startedAt;
  const results = found.proofs?.results;
  const isOk = results !== undefined && found.outcomes.every(({ code }) => code === 0);
  if (options.isSoak) writeSoakReport(found.outcomes, server ?? 'Redis', tookMs, results);
  if (options.isRecord && found.proofs !== undefined && isOk) record(found.proofs, tree, machine);
  print(`\n${costLine(tree.use(), tookMs)}\n${linesOf(found.outcomes).join('\n')}`);
  if (redis !== undefined) print(`Redis: ${redis.how}`);
  print(endOf(results));
  return isOk ? 0 : 1;
}

/** Writes what each file cost. A run in which something failed says nothing about that. */
function record({ walls }: VitestEnd, tree: ProcessTree, { pace }: Machine): void {
  const { seconds } = tree.use();
  const files = [...walls].map(([file, wall]) => [file, [seconds.get(file) ?? 0, wall]] as const);
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
