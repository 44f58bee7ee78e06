import type { HistoryEvent } from './events.ts';

/** A growing record of the observations while a service ran. */
export type HistoryRecorder = {
  /** Appends; call it the moment a reply or message is in hand, so that each connection's order is kept. */
  readonly record: (event: HistoryEvent) => void;
  /** Everything so far, live. */
  readonly events: readonly HistoryEvent[];
};

/** Starts an empty record. */
export function createHistory(): HistoryRecorder {
  const events: HistoryEvent[] = [];
  return {
    record: (event) => void events.push(event),
    events,
  };
}
