/** How much harm a wrong answer or decision can do, according to the asker or the agent's configuration. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** The order of risks in an inbox. An unknown risk may be any, so it comes second. */
const ORDER: readonly unknown[] = ['high', undefined, 'medium', 'low'];

interface RankedRecord {
  readonly risk?: Risk | undefined;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** The rank of a risk in an inbox, from 0. A risk that this build does not know counts as unknown. */
export function rankOfRisk(risk: unknown): number {
  const rank = ORDER.indexOf(risk);
  return rank < 0 ? ORDER.indexOf(undefined) : rank;
}

/** Compares questions and approvals for an inbox: by risk, highest first, and then by deadline. */
export function compareWaiting(one: RankedRecord, other: RankedRecord): number {
  return (
    rankOfRisk(one.risk) - rankOfRisk(other.risk) || Date.parse(one.expiresAt) - Date.parse(other.expiresAt)
  );
}

/** The risk as a phrase to append to a text; empty when there is none. */
export function riskNote(risk: Risk | undefined): string {
  return risk === undefined ? '' : ` (${risk} risk)`;
}
