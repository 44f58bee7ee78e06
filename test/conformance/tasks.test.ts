import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { suiteNotRun } from '../harness/not-run.ts';
import { startFixtureServer } from './fixture-server.ts';
import { findKit, runScenarios } from './kit.ts';
import { type ConformancePods, startConformancePods } from './pods.ts';

const NAME = 'the scenarios of tasks of the conformance kit of MCP';
const SCENARIOS = [
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
];
/** Those that call a tool that asks. */
const ASKING = ['tasks-mrtr-input', 'tasks-dispatch-and-envelope', 'tasks-mrtr-composition'];
/** The kit skips its only check. */
const SKIPPED = 'tasks-status-notifications';

const kit = findKit();
if ('notRun' in kit) suiteNotRun(NAME, kit.notRun);
else
  describe(NAME, { timeout: 5 * 60_000 }, () => {
    // Of one server Parley makes the calls tasks, and the other one makes tasks of them itself.
    describe.each([
      ['a server behind that answers with rounds', 'rounds', SCENARIOS],
      ['a server behind that answers with tasks', 'tasks', SCENARIOS],
      ['agents that ask by elicit', 'agents', ASKING],
    ] as const)('with %s', (_, manner, scenarios) => {
      let server: Awaited<ReturnType<typeof startFixtureServer>>;
      let pods: ConformancePods;
      beforeAll(async () => {
        const hasAgents = manner === 'agents';
        server = await startFixtureServer(hasAgents ? 'rounds' : manner);
        pods = await startConformancePods(server.url, { hasAgents });
      });
      afterAll(async () => {
        await pods?.close();
        await server?.close();
      });
      const run = (scenario: string) => runScenarios(kit.node, 'server', '2026-07-28', pods.url, [scenario]);

      it.each(scenarios)('%s passes through two pods', async (scenario) => {
        const [result] = await run(scenario);
        expect(result).toMatchObject({ scenario, failures: [], warnings: [] });
        expect(result?.passed).toBeGreaterThan(0);
      });

      // Nothing of it concerns the server behind.
      it.runIf(manner === 'rounds')('the one of notifications is skipped by the kit', async () => {
        expect(await run(SKIPPED)).toMatchObject([{ scenario: SKIPPED, passed: 0, failures: [] }]);
      });
    });
  });
