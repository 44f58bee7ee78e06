import type { HistoryEvent } from './events.ts';

/** A growing record of the observations while a service ran. */
export type HistoryRecorder = {
  /** Appends; call it the moment a reply or message is in hand, so that each connection's order is kept. */
  readonly record: (event: HistoryEvent) => void;
  /** Everything so far, live. */
  readonly events: readonly HistoryEvent[];
  /** One JSON object per line, ending in a line feed. */
  readonly toJsonl: () => string;
};

/** Starts an empty record. */
export function createHistory(): HistoryRecorder {
  const events: HistoryEvent[] = [];
  return {
    record: (event) => void events.push(event),
    events,
    toJsonl: () => events.map((event) => `${JSON.stringify(event)}\n`).join(''),
  };
}

/** Reads back what `toJsonl` wrote, so that a saved history can be judged again. Throws on a line that is not JSON. */
export function historyFromJsonl(text: string): HistoryEvent[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as HistoryEvent);
}
