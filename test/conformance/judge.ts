import type { KitRevision, KitRole, ScenarioResult } from './kit.ts';
import { reasonNotToApply } from './not-applicable.ts';

/** What a run of the kit shows. */
export interface Verdict {
  /** Required scenarios without a failed check. */
  readonly passed: readonly string[];
  /** Required scenarios that do not apply, each with its reason. */
  readonly notApplicable: readonly string[];
  /** What must not be: required scenarios that failed or did not run, and listed ones that passed. */
  readonly faults: readonly string[];
}

/** Compares the results with what the revision requires and with the list of what does not apply. */
export function judge(
  role: KitRole,
  revision: KitRevision,
  required: readonly string[],
  results: readonly ScenarioResult[],
): Verdict {
  const passed: string[] = [];
  const notApplicable: string[] = [];
  const faults: string[] = required.length === 0 ? ['the kit requires nothing'] : [];
  for (const scenario of required) {
    const result = results.find((one) => one.scenario === scenario);
    const reason = reasonNotToApply(role, revision, scenario);
    const isPassed = result !== undefined && result.failures.length === 0 && result.passed > 0;
    if (isPassed) passed.push(scenario);
    if (isPassed && reason !== undefined) faults.push(`${scenario}: passes, but is listed as not applicable`);
    else if (!isPassed && reason !== undefined) notApplicable.push(`${scenario}: ${reason}`);
    else if (!isPassed) faults.push(`${scenario}: ${result?.failures.join('; ') ?? 'did not run'}`);
  }
  return { passed, notApplicable, faults };
}
