import type { HistoryEvent } from './events.ts';

/** When nothing could be served, on the clock of the recorder. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/**
 * The longest time, in ms, for which one call was refused while it was repeated: from the first attempt without an outcome, or
 * from the end of an outage if that was later, to the reply with one.
 */
export function longestRefusalMs(events: readonly HistoryEvent[], outages: readonly Outage[] = []): number {
  const refusedSince = new Map<string, number>();
  let longest = 0;
  for (const event of events) {
    if (event.type !== 'ask' && event.type !== 'respond') continue;
    const call = event.type === 'ask' ? event.idempotencyKey : event.responseId;
    if (call === undefined) continue;
    const isRefused = event.httpStatus === 0 || event.httpStatus >= 500;
    const since = refusedSince.get(call);
    if (isRefused) refusedSince.set(call, since ?? event.startedAt);
    if (since === undefined) continue;
    const ended = outages.findLast(({ from, to }) => from <= event.at && since <= to);
    longest = Math.max(longest, event.at - Math.max(since, ended?.to ?? 0));
    if (!isRefused) refusedSince.delete(call);
  }
  return Math.round(longest);
}
