import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installKit } from './conformance/kit.ts';
import { installAcpx } from './harness/acpx/acpx.ts';
import { ensurePrograms } from './harness/ensure-programs.ts';
import { findRedis } from './harness/redis/find-redis.ts';
import { redisVersion } from './harness/redis/redis-command.ts';

/**
 * `npm test`: every proof at a size for every day. `npm run soak`: the same proofs at full size, with a report under
 * docs/reports. Finds a Redis first, and the programs that judge the shipped files, and says which; what cannot run
 * here says "not run" and never passes for it.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const soak = process.argv.includes('--soak');
const results = `${root}.tmp/results.json`;

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

interface Ended {
  readonly code: number;
  /** What it printed, unless it printed that itself. */
  readonly output?: string;
}

const NODE = ['node', '--conditions=parley-source', '--import', 'tsx'];
/** Each uses one processor for most of its time. They run side by side. */
const CHECKS: readonly Step[] = [
  { name: 'format, lint, types, house rules', command: ['npm', 'run', '--silent', 'check'] },
  // Its build fails when the card is too large, or holds what a strict page refuses.
  {
    name: 'the widget, built and weighed',
    command: ['npm', 'run', '--silent', 'build', '-w', 'clients/widget'],
  },
  { name: 'infrastructure files', command: [...NODE, 'infra/check.ts'] },
];
const PROOFS: Step = {
  name: soak ? 'proofs at full size' : 'proofs',
  command: ['npx', 'vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${results}`],
};

/** Runs a step to its end. A `quiet` step prints nothing: its output is returned. */
async function run({ command }: Step, env: Record<string, string>, quiet = false): Promise<Ended> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: root,
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    env: { ...process.env, ...env },
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  return new Promise((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? 1, output: output.join('') }));
    child.once('error', ({ message }) => resolve({ code: 1, output: message }));
  });
}

async function time(step: Step, env: Record<string, string>, quiet = false): Promise<Ended & Outcome> {
  const startedAt = Date.now();
  const ended = await run(step, env, quiet);
  return { ...ended, name: step.name, seconds: Math.round((Date.now() - startedAt) / 1000) };
}

interface Outcome {
  readonly name: string;
  readonly code: number;
  readonly seconds: number;
}

interface VitestResults {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** Milliseconds of the clock. */
    readonly startTime: number;
    readonly endTime: number;
    /** Why a file could not run at all. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** Lines kept of a failure's message; its stack follows. */
const MESSAGE_LINES = 12;
const SLOWEST_FILES = 25;

function readResults(): VitestResults | undefined {
  try {
    return JSON.parse(readFileSync(results, 'utf8')) as VitestResults;
  } catch {
    return undefined;
  }
}

async function main(): Promise<number> {
  const startedAt = Date.now();
  mkdirSync(`${root}.tmp`, { recursive: true });
  rmSync(results, { force: true });
  await ensurePrograms((text) => process.stdout.write(`${text}\n`));
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  await installKit(print).catch((error: unknown) => print(`not run: the conformance kit of MCP: ${error}`));
  await installAcpx(print).catch((error: unknown) => print(`not run: acpx: ${error}`));
  const redis = await findRedis();
  if ('notRun' in redis) {
    process.stderr.write(
      `not run: ${redis.notRun}\nSet REDIS_URL, or install redis-server 7 or Docker, and try again.\n`,
    );
    return 1;
  }
  const env = { REDIS_URL: redis.url, PARLEY_PROOF_SIZE: soak ? 'full' : 'small' };
  const outcomes: Outcome[] = [];
  let version: string | undefined;
  try {
    version = await redisVersion(redis.url);
    print(`\n== ${CHECKS.map(({ name }) => name).join('; ')}`);
    const checked = await Promise.all(CHECKS.map((step) => time(step, env, true)));
    for (const { name, output } of checked) print(`\n== ${name}\n${output}`);
    outcomes.push(...checked);
    // The proofs tell nothing more while the sources themselves are broken.
    if (checked[0]?.code === 0) {
      print(`\n== ${PROOFS.name}`);
      outcomes.push(await time(PROOFS, env));
    }
  } finally {
    await redis.stop();
  }
  const found = readResults();
  const tookMs = Date.now() - startedAt;
  process.stdout.write(`\nThe run took ${(tookMs / 60_000).toFixed(1)} minutes.\n`);
  if (soak) writeReport(outcomes, `Redis ${version}`, tookMs, found);
  return summarise(outcomes, redis.how, found);
}

function linesOf(outcomes: readonly Outcome[]): string[] {
  return outcomes.map(({ name, code, seconds }) => `${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
}

/** What failed and why, once more at the end: a run is longer than what most terminals keep. */
function failuresIn({ testResults }: VitestResults): string[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const failed = assertionResults.filter((each) => each.status === 'failed');
    const file = relative(root, name);
    if (failed.length === 0) return status === 'failed' ? [describeFailure(file, message)] : [];
    return failed.map(({ fullName, failureMessages }) =>
      describeFailure(`${file}: ${fullName}`, failureMessages[0]),
    );
  });
}

function describeFailure(what: string, why = ''): string {
  const lines = why.split('\n').filter((line) => !line.startsWith('    at '));
  return ['', what, ...lines.slice(0, MESSAGE_LINES).map((line) => `  ${line}`), ''].join('\n');
}

/** The files that took longest, slowest first. Files run side by side, so that the sum is more than the run took. */
function slowestFiles({ testResults }: VitestResults): string[] {
  return testResults
    .map(({ name, startTime, endTime }) => ({
      file: relative(root, name),
      seconds: (endTime - startTime) / 1000,
    }))
    .sort((one, other) => other.seconds - one.seconds)
    .slice(0, SLOWEST_FILES)
    .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
}

function summarise(outcomes: readonly Outcome[], how: string, found: VitestResults | undefined): number {
  if (found !== undefined) process.stdout.write(`\nThe slowest files:\n${slowestFiles(found).join('\n')}\n`);
  process.stdout.write(`\n${linesOf(outcomes).join('\n')}\nRedis: ${how}\n`);
  const failed = found?.numFailedTests ?? 0;
  for (const failure of found === undefined ? [] : failuresIn(found)) process.stdout.write(failure);
  process.stdout.write(
    `${found?.numPassedTests ?? 0} passed, ${failed} failed, ${found?.numPendingTests ?? 0} skipped\n`,
  );
  return outcomes.length === CHECKS.length + 1 && outcomes.every(({ code }) => code === 0) ? 0 : 1;
}

function writeReport(
  outcomes: readonly Outcome[],
  server: string,
  tookMs: number,
  found: VitestResults | undefined,
): void {
  const proofs = readProofs();
  mkdirSync(`${root}docs/reports`, { recursive: true });
  writeFileSync(
    `${root}docs/reports/soak.md`,
    [
      '# Soak report',
      '',
      `Written by \`npm run soak\` on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores, Node ${process.version}, ${server}; ${Math.round(tookMs / 60_000)} minutes.`,
      '',
      `${found?.numPassedTests ?? 0} tests passed, ${found?.numFailedTests ?? 0} failed, ${found?.numPendingTests ?? 0} not run.`,
      '',
      ...linesOf(outcomes).map((line) => `- ${line}`),
      '',
      ...proofs,
      '',
    ].join('\n'),
  );
}

/** What the proofs themselves had to tell: each appends a Markdown section to this file. */
function readProofs(): string[] {
  try {
    return [readFileSync(`${root}.tmp/proofs.md`, 'utf8')];
  } catch {
    return [];
  }
}

rmSync(`${root}.tmp/proofs.md`, { force: true });
process.exitCode = await main();
