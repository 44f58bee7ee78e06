import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MCP } from '../../infra/docs/mcp-held.ts';
import { suiteNotRun } from '../harness/not-run.ts';
import { type ClientHost, startClientHost } from './client-host.ts';
import { startFixtureServer } from './fixture-server.ts';
import { judge } from './judge.ts';
import {
  EXTENSIONS,
  findKit,
  type KitRole,
  REVISIONS,
  requiredScenarios,
  runScenarios,
  type ScenarioResult,
} from './kit.ts';
import { notApplicableTo } from './not-applicable.ts';
import { type ConformancePods, startConformancePods } from './pods.ts';

const NAME = 'the conformance kit of MCP';
const kit = findKit();

/** The kit reads one stream of this scenario for 600 ms only, in which a busy machine may have sent nothing. */
const HASTY = 'server-stateless';
const TOO_LATE_FOR_KIT = /^Failed to receive progressive stream chunk/;
const RUNS_MAX = 5;

type Revision = (typeof REVISIONS)[number];

/** The kit runs the scenarios of extensions with those that this revision requires. */
const NEWEST: Revision = '2026-07-28';
/** Those of extensions of which the kit skips the only check. */
const SKIPPED: Readonly<Record<KitRole, ReadonlyMap<string, string>>> = {
  server: new Map([['tasks-status-notifications', 'the kit skips it']]),
  client: new Map(),
};

interface Choice {
  /** The scenarios to run of a revision, where these are not all. */
  readonly some?: Readonly<Partial<Record<Revision, readonly string[]>>>;
  /** Whether the scenarios of extensions must pass, too. */
  readonly hasExtensions?: boolean;
}

/** What is behind the pods: the two fixtures, or a server that somebody else has started, such as that of an SDK. */
interface Behind extends Choice {
  readonly name: string;
  readonly start: () => ReturnType<typeof startFixtureServer>;
}

/**
 * Each fixture gets all scenarios of the revision that it speaks itself. Of the other one it gets those in which Parley turns
 * questions of the one kind into those of the other: of each kind of question, and of what the client can be asked.
 */
const FIXTURES: readonly Behind[] = [
  {
    name: 'the fixture that asks by rounds',
    start: () => startFixtureServer('rounds'),
    some: { '2025-11-25': ['tools-call-elicitation', 'tools-call-sampling'] },
    hasExtensions: true,
  },
  {
    name: 'the fixture that asks by requests',
    start: () => startFixtureServer('requests'),
    some: {
      '2026-07-28': [
        'input-required-result-multiple-input-requests',
        'input-required-result-capability-check',
      ],
    },
  },
];
const elsewhere = process.env.PARLEY_CONFORMANCE_SERVER;
const BEHIND: readonly Behind[] =
  elsewhere === undefined
    ? FIXTURES
    : [
        {
          name: `the server at ${elsewhere}`,
          start: async () => ({ url: elsewhere, close: async () => undefined }),
        },
      ];

/** Runs what a revision requires of one side, or some of it. Prints the numbers, and returns what must not be. */
async function faultsOf(
  node: string,
  role: KitRole,
  revision: Revision,
  target: string,
  { some: chosen, hasExtensions = false }: Choice,
): Promise<readonly string[]> {
  const some = chosen?.[revision];
  const isChosen = (scenario = '') => some?.includes(scenario) ?? true;
  const required = requiredScenarios(revision)[role].filter(isChosen);
  const listed = [...notApplicableTo(role, revision)].filter(([name]) => isChosen(name.split(':')[0]));
  let results = await runScenarios(node, role, revision, target, some);
  for (let runs = 1; runs < RUNS_MAX && isTooLate(results); runs += 1) {
    const again = await runScenarios(node, role, revision, target, [HASTY]);
    results = [...results.filter(({ scenario }) => scenario !== HASTY), ...again];
  }
  const { passed, notApplicable, warnings, faults } = judge(required, results, new Map(listed));
  const checks = results
    .filter(({ scenario }) => passed.includes(scenario))
    .reduce((sum, one) => sum + one.passed, 0);
  process.stdout.write(
    `${role}, ${revision}: ${passed.length} of ${required.length} scenarios pass (${checks} checks, ${warnings.length} warnings); not applicable: ${notApplicable.length}\n`,
  );
  if (!hasExtensions || revision !== NEWEST) return faults;
  const skipped = SKIPPED[role];
  return [...faults, ...judge([...EXTENSIONS[role], ...skipped.keys()], results, skipped).faults];
}

function isTooLate(results: readonly ScenarioResult[]): boolean {
  const { failures = [] } = results.find(({ scenario }) => scenario === HASTY) ?? {};
  return failures.some(({ reason }) => TOO_LATE_FOR_KIT.test(reason));
}

if ('notRun' in kit) suiteNotRun(NAME, kit.notRun);
else {
  const { node } = kit;
  describe(NAME, { timeout: 15 * 60_000 }, () => {
    describe.each(BEHIND)('server: two pods with $name', ({ start, ...choice }) => {
      let server: Awaited<ReturnType<typeof start>>;
      let pods: ConformancePods;
      beforeAll(async () => {
        server = await start();
        pods = await startConformancePods(server.url);
      });
      afterAll(async () => {
        await pods?.close();
        await server?.close();
      });

      it.each(REVISIONS)(
        '%s: each required scenario passes, or is listed with its reason',
        async (revision) => {
          expect(await faultsOf(node, 'server', revision, pods.url, choice)).toEqual([]);
        },
      );
    });

    it('requires each scenario that the page of requirements names', () => {
      const required = REVISIONS.flatMap((revision) => Object.values(requiredScenarios(revision)).flat());
      const named = Object.values(MCP.heldByKit).flat();
      expect(named.filter((scenario) => !required.includes(scenario))).toEqual([]);
    });

    describe('client', () => {
      let client: ClientHost;
      beforeAll(async () => {
        client = await startClientHost();
      });
      afterAll(() => client?.close());

      it.each(REVISIONS)(
        '%s: each required scenario passes, or is listed with its reason',
        async (revision) => {
          expect(await faultsOf(node, 'client', revision, client.command, { hasExtensions: true })).toEqual(
            [],
          );
        },
      );
    });
  });
}
