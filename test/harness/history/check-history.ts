import type { HistoryEvent } from './events.ts';
import { type IndexedHistory, indexHistory } from './index-history.ts';
import { RULE_NAMES, RULES, type RuleName } from './registry.ts';
import { countHistory, type Report } from './report.ts';
import type { Breach, Limits, Rule } from './rule.ts';

/** All optional; `allow` names the rules whose breach is expected in this history and counted apart. */
export type CheckOptions = Partial<Limits> & {
  readonly allow?: readonly RuleName[];
};

const DEFAULT_LIMITS: Limits = {
  graceMs: 1_000,
  toleranceMs: 50,
  sparseFeeds: false,
  resourceFactors: { liveBytes: 1.1, handles: 1.25, sockets: 1.25 },
};

/**
 * Judges a recorded history by all RULES and reports every breach, in the order of the rules.
 *
 * The order of events matters only within one connection and within Redis; time is linear in the number of events. The
 * history must be quiet at its end: faults healed, deadlines passed, one `final` per acknowledged ask and one
 * `run-final` per conversation. Never throws on a bad history.
 */
export function checkHistory(events: readonly HistoryEvent[], options: CheckOptions = {}): Report {
  const { allow = [], ...overrides } = options;
  const limits: Limits = { ...DEFAULT_LIMITS, ...overrides };
  const history = indexHistory(events);
  const found = RULE_NAMES.flatMap((rule) =>
    [...breachesOf(RULES[rule], history, limits)].map((breach) => ({ rule, ...breach })),
  );
  const violations = found.filter(({ rule }) => !allow.includes(rule));
  const allowed = found.filter(({ rule }) => allow.includes(rule));
  return { ok: violations.length === 0, violations, allowed, counts: countHistory(events, history) };
}

function* breachesOf(
  { perElicitation = [], perRun = [], overall = [] }: Rule,
  history: IndexedHistory,
  limits: Limits,
): Generator<Breach> {
  for (const check of perElicitation)
    for (const record of history.elicitations)
      for (const message of check(record, limits)) yield { subject: record.elicitationId, message };
  for (const check of perRun)
    for (const record of history.runs)
      for (const message of check(record)) yield { subject: record.conversation, message };
  for (const check of overall) yield* check(history, limits);
}
