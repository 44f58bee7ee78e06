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

/** What is behind the pods: the two fixtures, or a server that somebody else has started, such as that of an SDK. */
const elsewhere = process.env.PARLEY_CONFORMANCE_SERVER;
const MANNERS = ['rounds', 'requests'] as const;
const BEHIND: readonly (readonly [name: string, start: () => ReturnType<typeof startFixtureServer>])[] =
  elsewhere === undefined
    ? MANNERS.map((manner) => [`the fixture that asks by ${manner}`, () => startFixtureServer(manner)])
    : [[`the server at ${elsewhere}`, async () => ({ url: elsewhere, close: async () => undefined })]];

/** Runs what a revision requires of one side. Prints the numbers, and returns what must not be. */
async function faultsOf(
  node: string,
  role: KitRole,
  revision: (typeof REVISIONS)[number],
  target: string,
): Promise<readonly string[]> {
  const required = requiredScenarios(revision)[role];
  let results = await runScenarios(node, role, revision, target);
  for (let runs = 1; runs < RUNS_MAX && isTooLate(results); runs += 1) {
    const again = await runScenarios(node, role, revision, target, HASTY);
    results = [...results.filter(({ scenario }) => scenario !== HASTY), ...again];
  }
  const { passed, notApplicable, warnings, faults } = judge(
    required,
    results,
    notApplicableTo(role, revision),
  );
  const checks = results
    .filter(({ scenario }) => passed.includes(scenario))
    .reduce((sum, one) => sum + one.passed, 0);
  process.stdout.write(
    `${role}, ${revision}: ${passed.length} of ${required.length} scenarios pass (${checks} checks, ${warnings.length} warnings); not applicable: ${notApplicable.length}\n`,
  );
  return faults;
}

function isTooLate(results: readonly ScenarioResult[]): boolean {
  const { failures = [] } = results.find(({ scenario }) => scenario === HASTY) ?? {};
  return failures.some(({ reason }) => TOO_LATE_FOR_KIT.test(reason));
}

if ('notRun' in kit) suiteNotRun(NAME, kit.notRun);
else {
  const { node } = kit;
  describe(NAME, { timeout: 15 * 60_000 }, () => {
    describe.each(BEHIND)('server: two pods with %s', (_name, start) => {
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
          expect(await faultsOf(node, 'server', revision, pods.url)).toEqual([]);
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
          expect(await faultsOf(node, 'client', revision, client.command)).toEqual([]);
        },
      );

      it.each(EXTENSIONS)('the extension of %s passes', async (name) => {
        const results = await runScenarios(node, 'client', '2026-07-28', client.command, name);
        const { passed, faults } = judge([name], results, new Map());
        expect({ passed, faults }).toEqual({ passed: [name], faults: [] });
      });
    });
  });
}
