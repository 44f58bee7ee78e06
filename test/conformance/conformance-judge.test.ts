import { expect, it } from 'vitest';
import { judge, unrequired } from './judge.ts';
import { NOT_APPLICABLE } from './not-applicable.ts';

const passes = (scenario: string) => ({ scenario, passed: 2, failures: [] });
const fails = (scenario: string, check = 'check') => ({
  scenario,
  passed: 1,
  failures: [{ check, reason: 'reason' }],
});

it('passes a run in which each required scenario passes or is listed', () => {
  const results = [passes('tools-list'), fails('resources-subscribe'), fails('not-required')];
  expect(judge('server', '2025-11-25', ['tools-list', 'resources-subscribe'], results)).toEqual({
    passed: ['tools-list'],
    notApplicable: [expect.stringMatching(/^resources-subscribe: .+/)],
    faults: [],
  });
});

it.each([
  ['a failed check', [fails('tools-list')], 'tools-list: check: reason'],
  ['a scenario that did not run', [], 'tools-list: did not run'],
  ['a scenario without a check', [{ scenario: 'tools-list', passed: 0, failures: [] }], 'tools-list: '],
])('reports %s', (_name, results, fault) => {
  expect(judge('server', '2025-11-25', ['tools-list'], results).faults).toEqual([fault]);
});

it('reports a listed scenario that passes', () => {
  const { faults } = judge('server', '2025-11-25', ['resources-subscribe'], [passes('resources-subscribe')]);
  expect(faults).toEqual(['resources-subscribe: passes, but is listed as not applicable']);
});

it('passes a scenario with failed checks that are listed, and reports a listed check that passes', () => {
  const checks = [
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
  ] as const;
  const stateless = 'server-stateless';
  const failures = checks.map((check) => ({ check, reason: 'reason' }));
  const both = judge('server', '2026-07-28', [stateless], [{ scenario: stateless, passed: 3, failures }]);
  expect(both).toMatchObject({ passed: [stateless], faults: [] });
  expect(both.notApplicable).toHaveLength(2);
  const one = judge('server', '2026-07-28', [stateless], [fails(stateless, checks[0])]);
  expect(one.faults).toEqual([`${stateless}:${checks[1]}: passes, but is listed as not applicable`]);
});

it('reports a kit that requires nothing', () => {
  expect(judge('client', '2025-11-25', [], []).faults).toEqual(['the kit requires nothing']);
});

it('lists each scenario once, with a reason', () => {
  const all = NOT_APPLICABLE.flatMap(({ role, scenarios }) => scenarios.map((name) => `${role} ${name}`));
  expect(new Set(all).size).toBe(all.length);
  for (const { reason } of NOT_APPLICABLE) expect(reason).toMatch(/\.$/);
});

it('reports a listed scenario that the revision does not require', () => {
  const required = ['resources-subscribe', 'resources-unsubscribe'];
  expect(unrequired('server', '2025-11-25', required)).toEqual([
    'tools-call-sampling: is listed as not applicable, but is not required',
  ]);
});
