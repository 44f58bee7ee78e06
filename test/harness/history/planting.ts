import type { HistoryEvent } from './events.ts';
import { legalRun } from './legal-run.ts';

type Run = readonly HistoryEvent[];

/**
 * Runs with one wrong in each, by name. A name opens with the invariant that must catch it, then in brackets those
 * that the same wrong cannot help breaking: `I4 (I2, I5): what is wrong`.
 */
export type PlantedRuns = Readonly<Record<string, Run>>;

export type Defect = {
  readonly breaks: string;
  readonly also: readonly string[];
  readonly name: string;
  readonly run: Run;
};

/** Reads the names of planted runs. */
export function defectsIn(runs: PlantedRuns): Defect[] {
  return Object.entries(runs).map(([name, run]) => {
    const [, breaks = '', also] = /^(I\d+)(?: \((.*?)\))?: /.exec(name) ?? [];
    return { breaks, also: also?.split(', ') ?? [], name, run };
  });
}

type Fields = Readonly<Record<string, unknown>>;

/** The legal run with one event changed. Throws unless `match` names exactly one, so that no wrong goes unplanted. */
export function changed(match: Fields, patch: Fields): HistoryEvent[] {
  only(match);
  return legalRun.map((event) => (matches(event, match) ? ({ ...event, ...patch } as HistoryEvent) : event));
}

/** The legal run without one event. Throws unless `match` names exactly one. */
export function lacking(match: Fields): HistoryEvent[] {
  only(match);
  return legalRun.filter((event) => !matches(event, match));
}

/** The legal run with more events at its end; their times say where they belong. */
export function adding(...events: readonly HistoryEvent[]): HistoryEvent[] {
  return [...legalRun, ...events];
}

function only(match: Fields): void {
  const count = legalRun.filter((event) => matches(event, match)).length;
  if (count !== 1) throw new Error(`${JSON.stringify(match)} names ${count} events`);
}

function matches(event: HistoryEvent, match: Fields): boolean {
  return Object.entries(match).every(([key, value]) => (event as Fields)[key] === value);
}
