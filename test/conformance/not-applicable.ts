import type { KitRevision, KitRole } from './kit.ts';

/**
 * Scenarios that Parley cannot pass, because they test what it does not have; `scenario:check` is one check of a scenario that
 * it passes otherwise, or with which the kit only warns. What is listed and passes all the same is an error.
 */
export interface NotApplicable {
  readonly role: KitRole;
  readonly revisions: readonly KitRevision[];
  readonly reason: string;
  readonly scenarios: readonly string[];
}

export const NOT_APPLICABLE: readonly NotApplicable[] = [
  {
    role: 'server',
    revisions: ['2026-07-28'],
    reason:
      'They expect the key `user_name`, which their fixture chose. The keys of the questions of Parley are the ids of the elicitations.',
    scenarios: [
      'input-required-result-basic-elicitation',
      'input-required-result-ignore-extra-params:sep-2322-ignore-unexpected-params',
    ],
  },
];

/** What does not apply to one side of a revision, with the reasons. */
export function notApplicableTo(role: KitRole, revision: KitRevision): ReadonlyMap<string, string> {
  const entries = NOT_APPLICABLE.filter((entry) => entry.role === role && entry.revisions.includes(revision));
  return new Map(
    entries.flatMap(({ scenarios, reason }) => scenarios.map((name) => [name, reason] as const)),
  );
}
