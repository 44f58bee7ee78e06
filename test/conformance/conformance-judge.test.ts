import { expect, it } from 'vitest';
import { judge } from './judge.ts';
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
const LISTED = new Map([
  ['whole', 'Reason 1.'],
  ['part:a', 'Reason 2.'],
  ['part:b', 'Reason 3.'],
]);

it('a run is right in which each required scenario passes or is listed, as a whole or by its checks', () => {
  const part = { ...warns('part', 'b'), failures: complaints(['a']) };
  const results = [passes('plain'), fails('whole', 'a'), part, fails('not-required', 'a')];
  expect(judge(['plain', 'whole', 'part'], results, LISTED)).toEqual({
    passed: ['plain', 'part'],
    notApplicable: ['whole: Reason 1.', 'part:a: Reason 2.', 'part:b: Reason 3.'],
    warnings: ['part:b'],
    faults: [],
  });
});

const LISTED_PASSES = 'passes, but is listed as not applicable';
it.each([
  ['a failed check', 'plain', [fails('plain', 'check')], 'plain: check: reason'],
  ['a warning', 'plain', [warns('plain', 'check')], 'plain: check: reason'],
  ['a scenario that did not run', 'plain', [], 'plain: did not run'],
  ['a scenario without a check', 'plain', [{ ...passes('plain'), passed: 0 }], 'plain: '],
  ['a listed scenario that passes', 'whole', [passes('whole')], `whole: ${LISTED_PASSES}`],
  ['a listed check that passes', 'part', [fails('part', 'a')], `part:b: ${LISTED_PASSES}`],
  ['a kit that requires nothing', undefined, [], 'the kit requires nothing'],
])('a fault is %s', (_name, scenario, results, fault) => {
  const required = scenario === undefined ? [] : [scenario];
  const listed = new Map([...LISTED].filter(([name]) => name.split(':')[0] === scenario));
  expect(judge(required, results, listed).faults).toEqual([fault]);
});

it('a fault is a listed scenario that is not required', () => {
  expect(judge(['plain'], [passes('plain')], new Map([['whole', 'Reason.']])).faults).toEqual([
    'whole: is listed as not applicable, but is not required',
  ]);
});

it('lists each scenario once, with a reason', () => {
  const all = NOT_APPLICABLE.flatMap(({ role, scenarios }) => scenarios.map((name) => `${role} ${name}`));
  expect(new Set(all).size).toBe(all.length);
  for (const { reason } of NOT_APPLICABLE) expect(reason).toMatch(/\.$/);
});
