import { expect, it } from 'vitest';
import { judge, unrequired } from './judge.ts';
import { NOT_APPLICABLE } from './not-applicable.ts';

const passes = (scenario: string) => ({ scenario, passed: 2, failures: [], warnings: [] });
const complaints = (checks: readonly string[]) => checks.map((check) => ({ check, reason: 'reason' }));
const fails = (scenario: string, ...checks: readonly string[]) => ({
  ...passes(scenario),
  failures: complaints(checks),
});
const warns = (scenario: string, ...checks: readonly string[]) => ({
  ...passes(scenario),
  warnings: complaints(checks),
});
const STATELESS = 'server-stateless';
const LISTED = ['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'];

it('a run is right in which each required scenario passes or is listed, as a whole or by its checks', () => {
  const required = ['tools-list', 'resources-subscribe'];
  const results = [passes('tools-list'), fails('resources-subscribe', 'a'), fails('not-required', 'a')];
  expect(judge('server', '2025-11-25', required, results)).toEqual({
    passed: ['tools-list'],
    notApplicable: [expect.stringMatching(/^resources-subscribe: .+/)],
    warnings: [],
    faults: [],
  });
  const stateless = judge('server', '2026-07-28', [STATELESS], [fails(STATELESS, ...LISTED)]);
  expect(stateless).toMatchObject({ passed: [STATELESS], faults: [] });
  expect(stateless.notApplicable).toHaveLength(2);
});

it.each([
  ['a failed check', 'tools-list', [fails('tools-list', 'check')], 'tools-list: check: reason'],
  ['a warning', 'tools-list', [warns('tools-list', 'check')], 'tools-list: check: reason'],
  ['a scenario that did not run', 'tools-list', [], 'tools-list: did not run'],
  ['a scenario without a check', 'tools-list', [{ ...passes('tools-list'), passed: 0 }], 'tools-list: '],
  [
    'a listed scenario that passes',
    'resources-subscribe',
    [passes('resources-subscribe')],
    'resources-subscribe: passes, but is listed as not applicable',
  ],
  ['a kit that requires nothing', undefined, [], 'the kit requires nothing'],
])('a fault is %s', (_name, required, results, fault) => {
  const names = required === undefined ? [] : [required];
  expect(judge('server', '2025-11-25', names, results).faults).toEqual([fault]);
});

it('a fault is a listed check that passes, and a listed scenario that is not required', () => {
  const [first = '', second] = LISTED;
  const { faults } = judge('server', '2026-07-28', [STATELESS], [fails(STATELESS, first)]);
  expect(faults).toEqual([`${STATELESS}:${second}: passes, but is listed as not applicable`]);
  expect(unrequired('server', '2025-11-25', ['resources-subscribe', 'resources-unsubscribe'])).toEqual([
    'tools-call-sampling: is listed as not applicable, but is not required',
  ]);
});

it('a listed warning is counted, and its scenario passes', () => {
  const [scenario, check] = [
    'input-required-result-ignore-extra-params',
    'sep-2322-ignore-unexpected-params',
  ];
  expect(judge('server', '2026-07-28', [scenario], [warns(scenario, check)])).toEqual({
    passed: [scenario],
    notApplicable: [expect.stringMatching(`${scenario}:${check}: .+`)],
    warnings: [`${scenario}:${check}`],
    faults: [],
  });
});

it('lists each scenario once, with a reason', () => {
  const all = NOT_APPLICABLE.flatMap(({ role, scenarios }) => scenarios.map((name) => `${role} ${name}`));
  expect(new Set(all).size).toBe(all.length);
  for (const { reason } of NOT_APPLICABLE) expect(reason).toMatch(/\.$/);
});
