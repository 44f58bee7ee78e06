import { resourcePairs } from './check-resources.ts';
import type { ElicitationStatus, HistoryEvent } from './events.ts';
import { getOrAdd, type IndexedHistory } from './index-history.ts';
import { verdictOf } from './outcome.ts';
import type { Invariant } from './rules.ts';

export type Violation = {
  readonly invariant: Invariant;
  readonly elicitationId?: string | undefined;
  readonly message: string;
};

/** How much was looked at; a verdict on an empty run is worth nothing, so callers should hold these against a floor. */
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
};

export type Report = {
  /** No violation outside the allowed invariants. */
  readonly ok: boolean;
  readonly violations: readonly Violation[];
  /** Breaches of the invariants in `allow`: expected, but never dropped. */
  readonly allowed: readonly Violation[];
  readonly counts: Counts;
};

const SHOWN_PER_INVARIANT = 10;

/** Counts what a history holds, by what each event is. */
export function countHistory(
  events: readonly HistoryEvent[],
  { asks, connections, resources }: IndexedHistory,
): Counts {
  const finals: Partial<Record<ElicitationStatus, number>> = {};
  const types = new Map<HistoryEvent['type'], number>();
  let unknown = 0;
  for (const event of events) {
    types.set(event.type, (types.get(event.type) ?? 0) + 1);
    if ('httpStatus' in event && verdictOf(event.httpStatus) === 'unknown') unknown += 1;
    if (event.type === 'final') finals[event.status] = (finals[event.status] ?? 0) + 1;
  }
  const numberOf = (type: HistoryEvent['type']) => types.get(type) ?? 0;
  return {
    asks: asks.length,
    acked: asks.filter(({ httpStatus }) => verdictOf(httpStatus) === 'acked').length,
    responds: numberOf('respond'),
    unknown,
    finals,
    waits: numberOf('wait'),
    reads: numberOf('read'),
    events: numberOf('stream-event'),
    connections: connections.length,
    faults: numberOf('fault'),
    resourcePairs: resourcePairs(resources).length,
  };
}

/** Lines for a person: the verdict, what was looked at, and the first breaches of each invariant. */
export function formatReport({ ok, violations, allowed, counts }: Report): string {
  const { finals, ...numbers } = counts;
  return [
    `history: ${ok ? 'ok' : 'VIOLATED'}, ${violations.length} violations, ${allowed.length} allowed`,
    `  seen: ${listOf(numbers)}`,
    `  finals: ${listOf(finals) || 'none'}`,
    ...sectionOf('violated', violations),
    ...sectionOf('allowed', allowed),
  ].join('\n');
}

function listOf(numbers: Readonly<Record<string, number>>): string {
  return Object.entries(numbers)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function sectionOf(title: string, violations: readonly Violation[]): string[] {
  const groups = new Map<Invariant, Violation[]>();
  for (const violation of violations)
    getOrAdd(groups, violation.invariant, (): Violation[] => []).push(violation);
  return [...groups].flatMap(([invariant, group]) => {
    const shown = group.slice(0, SHOWN_PER_INVARIANT).map(({ elicitationId, message }) => {
      return `    ${elicitationId === undefined ? '' : `${elicitationId}: `}${message}`;
    });
    const more = group.length - shown.length;
    return [
      `  ${title} ${invariant} x${group.length}`,
      ...shown,
      ...(more > 0 ? [`    and ${more} more`] : []),
    ];
  });
}
