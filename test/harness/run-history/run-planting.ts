import type { FeedEvent, FinalEvent, Remembered, RunEvent } from './events.ts';

type Run = readonly RunEvent[];
type OfType<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** Does one wrong to one conversation of a history; nothing when the history has no place for it. */
export type Wrong = (run: Run, conversation: string) => RunEvent[] | undefined;

/**
 * Wrongs by name. A name opens with the rule that must catch it, then in brackets those that the same wrong cannot help
 * breaking: `R2 (R12): what is wrong`.
 */
export type RunWrongs = Readonly<Record<string, Wrong>>;

export interface RunDefect {
  readonly name: string;
  readonly breaks: readonly string[];
  readonly plant: Wrong;
}

/** Reads the names of wrongs. */
export function runDefectsIn(wrongs: RunWrongs): RunDefect[] {
  return Object.entries(wrongs).map(([name, plant]) => {
    const [, first = '', also] = /^(R\d+)(?: \((.*?)\))?: /.exec(name) ?? [];
    return { name, plant, breaks: [first, ...(also?.split(', ') ?? [])].sort() };
  });
}

/** The events of one type that a conversation has. */
export function ofType<T extends RunEvent['type']>(run: Run, conversation: string, type: T): OfType<T>[] {
  return run.filter(
    (event): event is OfType<T> =>
      event.type === type && 'conversation' in event && event.conversation === conversation,
  );
}

/** Puts others in the place of an event, none to take it away; nothing when there is no such event. */
export function replaced(
  run: Run,
  event: RunEvent | undefined,
  ...others: readonly RunEvent[]
): RunEvent[] | undefined {
  return event === undefined ? undefined : run.flatMap((one) => (one === event ? others : [one]));
}

/** Changes how a conversation stands at the end. */
export function ending(run: Run, conversation: string, change: (final: FinalEvent) => Partial<FinalEvent>) {
  const [final] = ofType(run, conversation, 'final');
  return final === undefined ? undefined : replaced(run, final, { ...final, ...change(final) });
}

/** Changes a feed, event by event; its ids are given anew. */
export function telling(
  change: (event: FeedEvent, at: number, feed: readonly FeedEvent[]) => readonly FeedEvent[],
): Wrong {
  return (run, conversation) =>
    ending(run, conversation, ({ feed }) => ({
      feed: feed.flatMap(change).map((event, at) => ({ ...event, id: `7-${at + 1}` })),
    }));
}

/** Changes what is remembered, piece by piece. */
export function remembering(change: (one: Remembered) => readonly Remembered[]): Wrong {
  return (run, conversation) =>
    ending(run, conversation, ({ remembered }) => ({ remembered: remembered.flatMap(change) }));
}

/** Does two wrongs that belong together. */
export function both(first: Wrong, second: Wrong): Wrong {
  return (run, conversation) => {
    const changed = first(run, conversation);
    return changed === undefined ? undefined : second(changed, conversation);
  };
}
