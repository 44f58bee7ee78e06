import { type HistoryEvent, ofType } from './events.ts';
import type {
  AnswerEvent,
  AttemptEvent,
  BegunEvent,
  CallEvent,
  DecisionEvent,
  FeedEvent,
  RunFinalEvent,
  SaidEvent,
  TermEvent,
  WriteEvent,
} from './run-events.ts';

/** What one connection showed, and how it ended. */
export type Reading = { readonly texts: string[]; clean: boolean | undefined };

/** The case record of one conversation and its run. */
export type RunCase = {
  readonly conversation: string;
  readonly begun: readonly BegunEvent[];
  /** Terms and writes, in the order in which Redis did them. */
  readonly done: readonly (TermEvent | WriteEvent)[];
  readonly attempts: readonly AttemptEvent[];
  readonly said: readonly SaidEvent[];
  readonly calls: readonly CallEvent[];
  /** Decisions on calls, and calls, in the order in which the test saw them. */
  readonly decided: readonly (DecisionEvent | CallEvent)[];
  readonly answers: readonly AnswerEvent[];
  readonly readings: ReadonlyMap<string, Reading>;
  readonly finals: readonly RunFinalEvent[];
};

/** Builds the record from the events of a conversation. */
export function createRunCase(conversation: string, events: readonly HistoryEvent[]): RunCase {
  const readings = new Map<string, Reading>();
  for (const event of ofType(events, 'seen', 'closed')) {
    const reading = readings.get(event.connection) ?? { texts: [], clean: undefined };
    readings.set(event.connection, reading);
    if (event.type === 'seen') reading.texts.push(event.text);
    else reading.clean = event.clean;
  }
  return {
    conversation,
    begun: ofType(events, 'begun'),
    done: ofType(events, 'term', 'write'),
    attempts: ofType(events, 'attempt'),
    said: ofType(events, 'said'),
    calls: ofType(events, 'call'),
    decided: ofType(events, 'decision', 'call'),
    answers: ofType(events, 'answer'),
    readings,
    finals: ofType(events, 'run-final'),
  };
}

/** The events of a feed that no later restart of a step has superseded. */
export function currentEvents(feed: readonly FeedEvent[]): readonly FeedEvent[] {
  const current: { readonly event: FeedEvent; readonly step: number }[] = [];
  let step = -1;
  for (const event of feed) {
    if (event.name === 'step-restarted') {
      const from = event.step ?? 0;
      const kept = current.filter((one) => one.step < from);
      current.splice(0, current.length, ...kept);
      continue;
    }
    if (event.name === 'step-started') step = event.step ?? step;
    current.push({ event, step });
  }
  return current.map(({ event }) => event);
}

/** The text of a feed by step. */
export function textByStep(feed: readonly FeedEvent[]): Map<number, string> {
  const texts = new Map<number, string>();
  let step = -1;
  for (const { name, text = '', ...event } of currentEvents(feed)) {
    if (name === 'step-started') step = event.step ?? step;
    if (name === 'text-delta') texts.set(step, (texts.get(step) ?? '') + text);
  }
  return texts;
}

/** The whole text of a feed. */
export function wholeText(feed: readonly FeedEvent[]): string {
  return [...textByStep(feed).values()].join('');
}

export function isTurnEnd({ name }: FeedEvent): boolean {
  return name === 'turn-finished' || name === 'turn-failed';
}
