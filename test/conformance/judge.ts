import type { ScenarioResult } from './kit.ts';

/** What a run of the kit shows. */
export interface Verdict {
  /** Required scenarios without a complaint. */
  readonly passed: readonly string[];
  /** Required scenarios and checks that do not apply, each with its reason. */
  readonly notApplicable: readonly string[];
  /** Checks of required scenarios with which the kit only warns. Each is a fault unless it is listed. */
  readonly warnings: readonly string[];
  /** What must not be: required scenarios that failed or did not run, and listed ones that passed or are not required. */
  readonly faults: readonly string[];
}

/**
 * Compares the results with what the revision requires, and with what is listed as not applicable: scenarios, and checks as
 * `scenario:check`, each with its reason.
 */
export function judge(
  required: readonly string[],
  results: readonly ScenarioResult[],
  listed: ReadonlyMap<string, string>,
): Verdict {
  const passed: string[] = [];
  const notApplicable: string[] = [];
  const warned: string[] = [];
  const faults: string[] = required.length === 0 ? ['the kit requires nothing'] : [];
  const withReason = (name: string) => `${name}: ${listed.get(name)}`;

  function judgeChecks({ scenario, failures, warnings, passed: checks }: ScenarioResult): void {
    const own = [...listed.keys()].filter((name) => name.startsWith(`${scenario}:`));
    const complaints = [...failures, ...warnings].map((one) => ({
      ...one,
      name: `${scenario}:${one.check}`,
    }));
    const failed = complaints.filter(({ name }) => !listed.has(name));
    const unfailed = own.filter((name) => !complaints.some((complaint) => complaint.name === name));
    warned.push(...warnings.map(({ check }) => `${scenario}:${check}`));
    faults.push(...unfailed.map((name) => `${name}: passes, but is listed as not applicable`));
    notApplicable.push(...own.map(withReason));
    if (failed.length === 0 && checks > 0) passed.push(scenario);
    else faults.push(`${scenario}: ${failed.map(({ check, reason }) => `${check}: ${reason}`).join('; ')}`);
  }

  for (const scenario of required) {
    const result = results.find((one) => one.scenario === scenario);
    const isPassed = result !== undefined && result.failures.length === 0 && result.passed > 0;
    if (isPassed && listed.has(scenario)) faults.push(`${scenario}: passes, but is listed as not applicable`);
    else if (listed.has(scenario)) notApplicable.push(withReason(scenario));
    else if (result === undefined) faults.push(`${scenario}: did not run`);
    else judgeChecks(result);
  }
  for (const name of listed.keys())
    if (!required.includes(name.split(':')[0] ?? ''))
      faults.push(`${name}: is listed as not applicable, but is not required`);
  return { passed, notApplicable, warnings: warned, faults };
}
