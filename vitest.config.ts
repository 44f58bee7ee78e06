import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { PACE, paced } from './test/harness/pace.ts';
import { ProgressReporter } from './test/runner/reporter.ts';
import { SlowFirst } from './test/runner/slow-first.ts';

/** Where `npm test` wants the results; undefined when vitest was started by hand. */
const results = process.env.PARLEY_TEST_RESULTS;

// At full size every load fills the machine: then one file at a time judges how late something is.
const isFull = process.env.PARLEY_PROOF_SIZE === 'full';
// Most files wait at times, so that one more than there are cores keeps these busy. Each further process would load the
// sources once more. Files begin when the machine has room for them (test/runner/gate.ts).
const WORKERS = Number(process.env.PARLEY_TEST_CORES ?? availableParallelism()) + 1;
// Without `import`, which is implied where it applies: named, it would have require() load ES modules.
const conditions = ['parley-source', 'node'];

// Each of these loads several pods, or asks one for its memory.
const LOADS = [
  'test/attacks/attacks.test.ts',
  'test/e2e/abuse.test.ts',
  'test/e2e/three-pods.test.ts',
  'test/faults/pubsub-kill.test.ts',
  'test/faults/streams.test.ts',
  'test/faults/take-over/owners.test.ts',
];

// Judges to the second how late a take-over is.
const TIMES = 'test/faults/take-over/times.test.ts';

// Starts processes, changes what its process reports to, stops its timers or replaces a module of node: each file in a
// process of its own.
const ALONE = [
  'test/unit/{harness,runtime}/**/*.test.ts',
  'test/integration/http/stream-expiry.test.ts',
  'test/unit/widget/inbox.test.ts',
  'test/attacks/constant-time.test.ts',
];

// Failovers are minutes of waiting for servers to notice.
const FAILOVERS = 'test/faults/{cluster,sentinel}.test.ts';

/** A project of files that start several pods, with browsers, faults and loads. */
interface SiteProject {
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  readonly isolate?: boolean;
  readonly maxWorkers: number;
  readonly groupOrder: number;
}

const PAGES = ['test/{browser,e2e}/**/*.test.ts', 'test/conformance/*.test.ts'];
const FAULTS = ['test/{attacks,faults}/**/*.test.ts'];

/**
 * What these files judge are the pods, so that many share a process. Vitest ends a process when the next file in the queue
 * belongs to another project, and the next process loads the sources again: a day's files are one project. In a soak, each
 * load has a process of its own.
 */
const sites: readonly SiteProject[] = isFull
  ? [
      { name: 'pages', include: PAGES, exclude: LOADS, maxWorkers: 2, groupOrder: 1 },
      { name: 'faults', include: FAULTS, exclude: LOADS, maxWorkers: 1, groupOrder: 2 },
      { name: 'proofs', include: LOADS, isolate: true, maxWorkers: 1, groupOrder: 3 },
    ]
  : [{ name: 'sites', include: [...PAGES, ...FAULTS], maxWorkers: WORKERS, groupOrder: 1 }];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    // No test sets limits of its own: they only end what hangs, and say nothing about how fast the machine has to be.
    testTimeout: isFull ? 3_600_000 : paced(300_000),
    hookTimeout: paced(300_000),
    env: { PARLEY_TEST_PACE: String(PACE) },
    // Loading the sources makes much garbage that dies young: larger young generations save a twentieth of the time.
    execArgv: ['--max-semi-space-size=64'],
    setupFiles: ['test/harness/begin-file.ts'],
    reporters:
      results === undefined ? ['default'] : [new ProgressReporter(), ['json', { outputFile: results }]],
    sequence: { sequencer: SlowFirst },
    expect: { poll: { timeout: paced(30_000) } },
    // Each project compiles for itself; what one has compiled, the others and the next run read.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.tmp/modules' },
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: [...ALONE, FAILOVERS],
          maxWorkers: isFull ? 2 : WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      // These wait more than they work: for leases, for keys to expire, for each other. Nothing of them outlives a test, so
      // that many files share a process: loading the sources for each file costs as much as many of the tests.
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/{bench,contract,house,infra,integration,mutants,runner,unit}/**/*.test.ts'],
          exclude: ALONE,
          isolate: false,
          unstubEnvs: true,
          maxWorkers: isFull ? 2 : WORKERS,
          sequence: { groupOrder: 0 },
        },
      },
      ...sites.map(({ name, include, maxWorkers, groupOrder, exclude = [], isolate = false }) => ({
        extends: true as const,
        test: {
          name,
          include: [...include],
          exclude: [...exclude, ...ALONE, TIMES, FAILOVERS],
          isolate,
          unstubEnvs: true,
          maxWorkers,
          sequence: { groupOrder },
        },
      })),
      {
        extends: true,
        test: {
          name: 'times',
          include: [TIMES],
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
