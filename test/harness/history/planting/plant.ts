import type { HistoryEvent } from '../events.ts';
import type { RuleName } from '../registry.ts';

type Events = readonly HistoryEvent[];

/** Does one wrong to a history, in one of its subjects; undefined when the history has no place for it. */
export type Plant = (history: Events, subject: string) => HistoryEvent[] | undefined;

/**
 * Defects by name. A name opens with the rule that must find it, then in brackets the rules that the same defect cannot
 * help breaking: `I4 (I2, I5): what is wrong`.
 */
export type Defects = Readonly<Record<string, Plant>>;

export type Defect = {
  readonly name: string;
  readonly breaks: RuleName;
  /** All rules that it breaks, sorted. */
  readonly breaksAll: readonly string[];
  readonly plant: Plant;
};

/** Reads the names of defects. */
export function readDefects(defects: Defects): Defect[] {
  return Object.entries(defects).map(([name, plant]) => {
    const [, breaks = '', also] = /^([IR]\d+)(?: \((.*?)\))?: /.exec(name) ?? [];
    const breaksAll = [breaks, ...(also?.split(', ') ?? [])].sort();
    return { name, breaks: breaks as RuleName, breaksAll, plant };
  });
}

/** Plants several defects, one after the other. */
export function all(...plants: readonly Plant[]): Plant {
  return (history, subject) =>
    plants.reduce<HistoryEvent[] | undefined>(
      (changed, plant) => changed && plant(changed, subject),
      [...history],
    );
}

/** Puts others in the place of an event, none to remove it; undefined when there is no such event. */
export function replace(
  history: Events,
  event: HistoryEvent | undefined,
  ...others: Events
): HistoryEvent[] | undefined {
  return event === undefined ? undefined : history.flatMap((one) => (one === event ? others : [one]));
}

type Fields = Readonly<Record<string, unknown>>;

/** Changes one event. Throws unless `match` names exactly one, so that no defect stays unplanted. */
export function change(match: Fields, patch: Fields): Plant {
  return (history) => {
    const event = findOnly(history, match);
    return replace(history, event, { ...event, ...patch } as HistoryEvent);
  };
}

/** Removes one event. Throws unless `match` names exactly one. */
export function remove(match: Fields): Plant {
  return (history) => replace(history, findOnly(history, match));
}

/** Adds events at the end; their times tell where they belong. */
export function add(...events: Events): Plant {
  return (history) => [...history, ...events];
}

function findOnly(history: Events, match: Fields): HistoryEvent {
  const found = history.filter((event) =>
    Object.entries(match).every(([key, value]) => (event as Fields)[key] === value),
  );
  const [event] = found;
  if (event === undefined || found.length > 1)
    throw new Error(`${JSON.stringify(match)} names ${found.length} events`);
  return event;
}
