import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { killWithParent } from '../harness/processes/child-guard.ts';
import { type Costs, shareOf } from './costs.ts';
import { openGate } from './gate.ts';
import type { Machine } from './machine.ts';
import type { ProcessTree } from './process-tree.ts';
import { type Results, readResults } from './results.ts';
import { ROOT } from './root.ts';

export interface VitestRun {
  readonly args: readonly string[];
  /** A command before vitest's own, such as taskset. */
  readonly wrap?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly machine: Machine;
  readonly tree: ProcessTree;
  readonly costs: Costs;
  readonly isQuiet?: boolean;
}

export interface VitestEnd {
  readonly code: number;
  /** Undefined when vitest ended before it wrote them. */
  readonly results: Results | undefined;
  /** Seconds that each file took, its set-up included. */
  readonly walls: ReadonlyMap<string, number>;
}

/** Runs vitest to its end, with files that begin when the machine has room for them. */
export async function runVitest(run: VitestRun): Promise<VitestEnd> {
  const { machine, tree, costs, wrap = [] } = run;
  const json = join(ROOT, '.tmp/results.json');
  rmSync(json, { force: true });
  const gate = await openGate({ machine, tree, shareOf: (file) => shareOf(costs, file) });
  const [program = '', ...args] = [
    ...wrap,
    process.execPath,
    join(ROOT, 'node_modules/vitest/vitest.mjs'),
    'run',
    ...run.args,
  ];
  try {
    const child = spawn(program, args, {
      cwd: ROOT,
      stdio: run.isQuiet === true ? 'ignore' : 'inherit',
      env: {
        ...process.env,
        ...run.env,
        // vitest.config.ts reads these.
        PARLEY_TEST_RESULTS: json,
        PARLEY_TEST_GATE: gate.url,
        PARLEY_TEST_PACE: machine.pace.toFixed(2),
        PARLEY_TEST_CORES: String(machine.cores),
      },
    });
    killWithParent(child);
    return { code: await endingWithSignals(child), results: readResults(json), walls: gate.walls() };
  } finally {
    await gate.close();
  }
}

/** Passes on what would end this process, so that it ends after its child, prints what was found and stops its Redis. */
async function endingWithSignals(child: ChildProcess): Promise<number> {
  const passOn = (signal: NodeJS.Signals) => void child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, passOn);
  try {
    return await ending(child);
  } finally {
    for (const signal of signals) process.off(signal, passOn);
  }
}

/** The exit code; 1 for a program that could not be started or was killed. */
export function ending(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('close', (code) => resolve(code ?? 1));
  });
}
