import type { KitRevision, KitRole, ScenarioResult } from './kit.ts';
import { NOT_APPLICABLE, reasonNotToApply } from './not-applicable.ts';

/** What a run of the kit shows. */
export interface Verdict {
  /** Required scenarios without a failed check. */
  readonly passed: readonly string[];
  /** Required scenarios and checks that do not apply, each with its reason. */
  readonly notApplicable: readonly string[];
  /** Checks of required scenarios with which the kit only warns. Each is a fault unless it is listed. */
  readonly warnings: readonly string[];
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
  const warned: string[] = [];
  const faults: string[] = required.length === 0 ? ['the kit requires nothing'] : [];
  const reasonOf = (name: string) => reasonNotToApply(role, revision, name);

  function judgeChecks({ scenario, failures, warnings, passed: checks }: ScenarioResult): void {
    const listed = checksListed(role, revision, scenario);
    const complaints = [...failures, ...warnings];
    const failed = complaints.filter(({ check }) => !listed.includes(check));
    const unfailed = listed.filter((check) => !complaints.some((complaint) => complaint.check === check));
    warned.push(...warnings.map(({ check }) => `${scenario}:${check}`));
    faults.push(...unfailed.map((check) => `${scenario}:${check}: passes, but is listed as not applicable`));
    notApplicable.push(...listed.map((check) => `${scenario}:${check}: ${reasonOf(`${scenario}:${check}`)}`));
    if (failed.length === 0 && checks > 0) passed.push(scenario);
    else faults.push(`${scenario}: ${failed.map(({ check, reason }) => `${check}: ${reason}`).join('; ')}`);
  }

  for (const scenario of required) {
    const result = results.find((one) => one.scenario === scenario);
    const reason = reasonOf(scenario);
    const isPassed = result !== undefined && result.failures.length === 0 && result.passed > 0;
    if (isPassed && reason !== undefined) faults.push(`${scenario}: passes, but is listed as not applicable`);
    else if (reason !== undefined) notApplicable.push(`${scenario}: ${reason}`);
    else if (result === undefined) faults.push(`${scenario}: did not run`);
    else judgeChecks(result);
  }
  return { passed, notApplicable, warnings: warned, faults };
}

/** What must not be either: names of the list that the revision does not require. */
export function unrequired(role: KitRole, revision: KitRevision, required: readonly string[]): string[] {
  return namesListed(role, revision)
    .filter((name) => !required.includes(name.split(':')[0] ?? ''))
    .map((name) => `${name}: is listed as not applicable, but is not required`);
}

/** The checks of a scenario that do not apply, while the scenario does. */
function checksListed(role: KitRole, revision: KitRevision, scenario: string): readonly string[] {
  return namesListed(role, revision)
    .filter((name) => name.startsWith(`${scenario}:`))
    .map((name) => name.slice(scenario.length + 1));
}

function namesListed(role: KitRole, revision: KitRevision): readonly string[] {
  return NOT_APPLICABLE.filter((entry) => entry.role === role && entry.revisions.includes(revision)).flatMap(
    ({ scenarios }) => scenarios,
  );
}
