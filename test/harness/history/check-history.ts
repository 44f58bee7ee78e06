import { everyElicitationWasAsked, nothingByHalves, refusalsAreTrue, strayAskEnds } from './check-halves.ts';
import { sameKeySameElicitation, sameResponseSameResult } from './check-repeats.ts';
import { nothingLeaks, nothingLeftInRedis } from './check-resources.ts';
import {
  ackedIsRecorded,
  everyAckHasAnId,
  everyAskEnds,
  nothingFromNowhere,
  oneAckedOutcome,
  oneTerminalForAll,
  onlyTheOwnerAnswers,
} from './check-settle.ts';
import { feedsOnlyMoveOn, noGapNoRepeat, noLostEnding, nothingCrossesUsers } from './check-streams.ts';
import { everyWaitReturns, neverBack, neverEarly, neverLate } from './check-time.ts';
import type { HistoryEvent } from './events.ts';
import { indexHistory } from './index-history.ts';
import { countHistory, type Report, type Violation } from './report.ts';
import {
  type DossierRule,
  type HistoryRule,
  INVARIANTS,
  type Invariant,
  type Limits,
  type ResourceFactors,
} from './rules.ts';

/** All optional; `allow` names the invariants whose breach is expected in this run and counted apart. */
export type CheckOptions = Partial<Omit<Limits, 'resourceFactors'>> & {
  readonly allow?: readonly Invariant[];
  readonly resourceFactors?: Partial<ResourceFactors>;
};

const DEFAULT_LIMITS: Limits = {
  graceMs: 1_000,
  toleranceMs: 50,
  sparseFeeds: false,
  resourceFactors: { liveBytes: 1.1, handles: 1.25, sockets: 1.25 },
};

const DOSSIER_RULES: readonly (readonly [Invariant, DossierRule])[] = [
  ['I1', everyAskEnds],
  ['I2', oneTerminalForAll],
  ['I3', oneAckedOutcome],
  ['I4', ackedIsRecorded],
  ['I5', nothingFromNowhere],
  ['I6', everyWaitReturns],
  ['I7', neverEarly],
  ['I8', neverLate],
  ['I9', neverBack],
  ['I10', onlyTheOwnerAnswers],
  ['I11', nothingCrossesUsers],
  ['I13', sameResponseSameResult],
  ['I16', nothingByHalves],
  ['I16', refusalsAreTrue],
  ['I16', strayAskEnds],
];

const HISTORY_RULES: readonly (readonly [Invariant, HistoryRule])[] = [
  ['I1', everyAckHasAnId],
  ['I12', noGapNoRepeat],
  ['I12', feedsOnlyMoveOn],
  ['I12', noLostEnding],
  ['I13', sameKeySameElicitation],
  ['I14', nothingLeftInRedis],
  ['I15', nothingLeaks],
  ['I16', everyElicitationWasAsked],
];

/**
 * Judges a recorded run against I1 to I16 and reports every breach, ordered by invariant.
 *
 * The order of events matters only within one stream connection; time is linear in the number of events. The run must
 * be quiet at its end: faults healed, deadlines passed, one `final` per acknowledged ask. Never throws on a bad run.
 */
export function checkHistory(events: readonly HistoryEvent[], options: CheckOptions = {}): Report {
  const { allow = [], resourceFactors, ...overrides } = options;
  const limits: Limits = {
    ...DEFAULT_LIMITS,
    ...overrides,
    resourceFactors: { ...DEFAULT_LIMITS.resourceFactors, ...resourceFactors },
  };
  const history = indexHistory(events);
  const found: Violation[] = [];
  for (const [invariant, rule] of DOSSIER_RULES) {
    for (const dossier of history.dossiers) {
      for (const message of rule(dossier, limits)) {
        found.push({
          invariant,
          elicitationId: dossier.elicitationId,
          message,
        });
      }
    }
  }
  for (const [invariant, rule] of HISTORY_RULES) {
    for (const finding of rule(history, limits)) found.push({ invariant, ...finding });
  }
  found.sort((left, right) => INVARIANTS.indexOf(left.invariant) - INVARIANTS.indexOf(right.invariant));
  const violations = found.filter(({ invariant }) => !allow.includes(invariant));
  const allowed = found.filter(({ invariant }) => allow.includes(invariant));
  return {
    ok: violations.length === 0,
    violations,
    allowed,
    counts: countHistory(events, history),
  };
}
