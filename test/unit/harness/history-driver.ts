import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type CheckOptions, checkHistory } from '../../harness/history/check-history.ts';
import type { HistoryEvent } from '../../harness/history/events.ts';
import type { Defect, Plant } from '../../harness/history/planting/plant.ts';
import type { RuleName } from '../../harness/history/registry.ts';
import { formatReport } from '../../harness/history/report.ts';

type Events = readonly HistoryEvent[];

/** Legal histories made at random, and the subject in which defects are planted; without one nothing is planted. */
export interface Simulation<Plan> {
  readonly plans: fc.Arbitrary<Plan>;
  readonly simulate: (plan: Plan) => Events;
  readonly subjectOf: (history: Events, pick: number) => string | undefined;
  readonly options?: CheckOptions;
}

/** The rules that a history breaks, sorted. */
export function brokenBy(history: Events, options?: CheckOptions): string[] {
  return [...new Set(checkHistory(history, options).violations.map(({ rule }) => rule))].sort();
}

export function expectLegal(history: Events, options?: CheckOptions): void {
  const report = checkHistory(history, options);
  expect(report.ok, formatReport(report)).toBe(true);
}

/** Plants in a history that must have a place for the defect. */
export function planted(plant: Plant, history: Events, subject = ''): HistoryEvent[] {
  const changed = plant(history, subject);
  if (changed === undefined) throw new Error('The history has no place for the defect.');
  return changed;
}

/** Every defect, planted in one legal history, breaks exactly the rules of its name. */
export function itFindsEach(defects: readonly Defect[], history: Events, subject = ''): void {
  it.each(defects)('$name', ({ plant, breaksAll }) => {
    const changed = planted(plant, history, subject);
    const report = checkHistory(changed);
    expect(brokenBy(changed), formatReport(report)).toEqual(breaksAll);
    if (subject !== '') for (const violation of report.violations) expect(violation.subject).toBe(subject);
  });
}

/** Every defect, planted in legal histories made at random, is found wherever the history has a place for it. */
export function itFindsEachAnywhere<Plan>(
  defects: readonly { readonly name: string; readonly breaks: RuleName; readonly plant: Plant }[],
  { plans, simulate, subjectOf, options }: Simulation<Plan>,
): void {
  it.each(defects)('is found in any history: $name', ({ plant, breaks }) => {
    let places = 0;
    const findsIt = fc.property(plans, fc.nat(5), (plan, pick) => {
      const history = simulate(plan);
      const subject = subjectOf(history, pick);
      const changed = subject === undefined ? undefined : plant(history, subject);
      if (changed === undefined) return;
      places += 1;
      expect(brokenBy(changed, options)).toContain(breaks);
    });
    fc.assert(findsIt, { numRuns: 30 });
    expect(places).toBeGreaterThan(0);
  });
}
