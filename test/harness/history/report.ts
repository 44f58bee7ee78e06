import { type ElicitationStatus, type HistoryEvent, ofType } from './events.ts';
import { groupBy, type IndexedHistory } from './index-history.ts';
import { verdictOf } from './outcome.ts';
import { RULES, type RuleName } from './registry.ts';
import type { Breach } from './rule.ts';
import { resourcePairs } from './rules/resources.ts';
import { currentEvents, type RunCase } from './run-case.ts';

export type Violation = Breach & { readonly rule: RuleName };

/** How much was judged; a verdict on an empty history is worth nothing, so callers hold these against a floor. */
export type Counts = {
  readonly asks: number;
  /** Asks answered with a 2xx. */
  readonly acked: number;
  readonly responds: number;
  /** Asks, answers, completions and withdrawals whose outcome the client never learnt. */
  readonly unknown: number;
  readonly finals: Readonly<Partial<Record<ElicitationStatus, number>>>;
  readonly waits: number;
  readonly reads: number;
  /** Elicitation events received over streams. */
  readonly events: number;
  readonly connections: number;
  readonly faults: number;
  /** Processes and stores sampled both before and after. */
  readonly resourcePairs: number;
  readonly conversations: number;
  readonly kills: number;
  /** Conversations that had more than one owner, and by how many owners more in all. */
  readonly takenOver: number;
  readonly takeOvers: number;
  /** Writes that were refused, or changed nothing when they came again. */
  readonly refusedWrites: number;
  /** Calls with an effect whose outcome was given to the model as unknown. */
  readonly unknownOutcomes: number;
  /** Harmless calls that were made again. */
  readonly repeatedCalls: number;
  readonly restartedSteps: number;
  /** Calls on which a person decided. */
  readonly decidedCalls: number;
  readonly readings: number;
  readonly cutReadings: number;
};

export type Report = {
  /** No violation outside the allowed rules. */
  readonly ok: boolean;
  readonly violations: readonly Violation[];
  /** Breaches of the rules in `allow`: expected, but never dropped. */
  readonly allowed: readonly Violation[];
  readonly counts: Counts;
};

const SHOWN_PER_RULE = 10;

/** Counts what a history holds, by what each event is. */
export function countHistory(events: readonly HistoryEvent[], history: IndexedHistory): Counts {
  const { asks, connections, resources, runs } = history;
  const commands = ofType(events, 'ask', 'respond', 'complete', 'withdraw');
  const finals = groupBy(ofType(events, 'final'), ({ status }) => status);
  const numberOf = (type: HistoryEvent['type']) => ofType(events, type).length;
  return {
    asks: asks.length,
    acked: asks.filter(({ httpStatus }) => verdictOf(httpStatus) === 'acked').length,
    responds: numberOf('respond'),
    unknown: commands.filter(({ httpStatus }) => verdictOf(httpStatus) === 'unknown').length,
    finals: Object.fromEntries(finals.map(([status, own]) => [status, own.length])),
    waits: numberOf('wait'),
    reads: numberOf('read'),
    events: numberOf('stream-event'),
    connections: connections.length,
    faults: numberOf('fault'),
    resourcePairs: resourcePairs(resources).length,
    kills: numberOf('kill'),
    ...countRuns(runs),
  };
}

function countRuns(runs: readonly RunCase[]) {
  const owners = runs.map(({ done }) => ofType(done, 'term').length);
  const feeds = runs.flatMap(({ finals }) => finals.map(({ feed }) => feed));
  const readings = runs.flatMap((run) => [...run.readings.values()]);
  const repeats = runs.map(({ calls }) => calls.length - new Set(calls.map(({ call }) => call)).size);
  return {
    conversations: runs.length,
    takenOver: owners.filter((count) => count > 1).length,
    takeOvers: owners.reduce((sum, count) => sum + Math.max(0, count - 1), 0),
    refusedWrites: runs.flatMap(({ done }) => ofType(done, 'write').filter(({ accepted }) => !accepted))
      .length,
    unknownOutcomes: feeds.flatMap((feed) =>
      currentEvents(feed).filter(({ outcome }) => outcome === 'unknown'),
    ).length,
    repeatedCalls: repeats.reduce((sum, count) => sum + count, 0),
    decidedCalls: feeds.flatMap((feed) => feed.filter(({ name }) => name === 'approval-resolved')).length,
    restartedSteps: feeds.flatMap((feed) => feed.filter(({ name }) => name === 'step-restarted')).length,
    readings: readings.length,
    cutReadings: readings.filter(({ clean }) => clean === false).length,
  };
}

/** Lines for a person: the verdict, what was judged, and the first breaches of each rule. */
export function formatReport({ ok, violations, allowed, counts }: Report): string {
  const { finals, ...numbers } = counts;
  return [
    `history: ${ok ? 'ok' : 'VIOLATED'}, ${violations.length} violations, ${allowed.length} allowed`,
    `  seen: ${formatCounts(numbers) || 'nothing'}`,
    ...(counts.asks > 0 ? [`  finals: ${formatCounts(finals) || 'none'}`] : []),
    ...formatBreaches('violated', violations),
    ...formatBreaches('allowed', allowed),
  ].join('\n');
}

function formatCounts(numbers: Readonly<Record<string, number>>): string {
  const some = Object.entries(numbers).filter(([, count]) => count > 0);
  return some.map(([name, count]) => `${name} ${count}`).join(', ');
}

function formatBreaches(title: string, violations: readonly Violation[]): string[] {
  return groupBy(violations, ({ rule }) => rule).flatMap(([rule, group]) => {
    const shown = group
      .slice(0, SHOWN_PER_RULE)
      .map(({ subject, message }) => `    ${subject === undefined ? '' : `${subject}: `}${message}`);
    const more = group.length - shown.length;
    const heading = `  ${title} ${rule} x${group.length}: ${RULES[rule as RuleName].statement}`;
    return [heading, ...shown, ...(more > 0 ? [`    and ${more} more`] : [])];
  });
}
