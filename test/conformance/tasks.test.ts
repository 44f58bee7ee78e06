import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { startFixtureServer } from './fixture-server.ts';
import { EXTENSIONS, findKit, runScenarios, type ScenarioResult } from './kit.ts';
import { type ConformancePods, startConformancePods } from './pods.ts';

const NAME = 'the scenarios of tasks of the conformance kit of MCP';
/** Those that call a tool that asks. */
const ASKING = ['tasks-mrtr-input', 'tasks-dispatch-and-envelope', 'tasks-mrtr-composition'];

const kit = findKit();
if ('notRun' in kit) suiteNotRun(NAME, kit.notRun);
else
  describe(NAME, { timeout: 5 * 60_000 }, () => {
    // Those of a server whose calls Parley makes tasks run with the suite of the revision.
    describe.each([
      ['a server behind that answers with tasks', 'tasks', EXTENSIONS.server],
      ['agents that ask by elicit', 'agents', ASKING],
    ] as const)('with %s', (_, manner, scenarios) => {
      let server: Awaited<ReturnType<typeof startFixtureServer>>;
      let pods: ConformancePods;
      let results: readonly ScenarioResult[];
      beforeAll(async () => {
        const hasAgents = manner === 'agents';
        server = await startFixtureServer(hasAgents ? 'rounds' : manner);
        pods = await startConformancePods(server.url, { hasAgents });
        results = await runScenarios(kit.node, 'server', '2026-07-28', pods.url, scenarios);
      });
      afterAll(async () => {
        await pods?.close();
        await server?.close();
      });

      it.each(scenarios)('%s passes through two pods', (scenario) => {
        const result = results.find((one) => one.scenario === scenario);
        expect(result).toMatchObject({ failures: [], warnings: [] });
        expect(result?.passed).toBeGreaterThan(0);
      });
    });
  });
