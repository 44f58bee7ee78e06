/** How much harm a wrong answer or decision can do, as the asker or the configuration of the agent says. */
export const RISKS = ['low', 'medium', 'high'] as const;
export type Risk = (typeof RISKS)[number];

/** What waits for a person, in this order. What has no risk may have any. */
const ORDER: readonly unknown[] = ['high', undefined, 'medium', 'low'];

interface RankedRecord {
  readonly risk?: Risk | undefined;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** The place of a risk in an inbox: 0 for what comes first. A risk that this build does not know counts as none. */
export function rankOfRisk(risk: unknown): number {
  const rank = ORDER.indexOf(risk);
  return rank < 0 ? ORDER.indexOf(undefined) : rank;
}

/** The order of questions and approvals in an inbox: the highest risk first, and of one risk what ends first. */
export function compareWaiting(one: RankedRecord, other: RankedRecord): number {
  return (
    rankOfRisk(one.risk) - rankOfRisk(other.risk) || Date.parse(one.expiresAt) - Date.parse(other.expiresAt)
  );
}

/** The risk in words, to stand behind others; empty where there is none. */
export function riskNote(risk: Risk | undefined): string {
  return risk === undefined ? '' : ` (${risk} risk)`;
}
