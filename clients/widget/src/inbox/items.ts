import { isTerminal } from '@parley/shared/domain/elicitations/status';
import type { Elicitation } from '../elicitation.ts';

/** One line of the inbox. */
export interface InboxItem {
  readonly elicitation: Elicitation;
  /** When it stopped waiting, in ms on the page's own clock; absent while it waits. */
  readonly leftAt?: number;
  /** It waits no longer, and nobody could tell how it ended. */
  readonly isLost?: true;
}

/** What became of a list. */
export interface Merged {
  readonly items: readonly InboxItem[];
  readonly arrived: readonly Elicitation[];
  /** Ids of those that wait no longer. How they ended is not known from this. */
  readonly left: readonly string[];
}

/** Puts what waits now into the list, newest first. What waits no longer stays for a while, with the time it left. */
export function merge(items: readonly InboxItem[], open: readonly Elicitation[], at: number): Merged {
  const known = new Map(items.map((item) => [item.elicitation.elicitationId, item]));
  const waiting = new Set(open.map(({ elicitationId }) => elicitationId));
  const merged = open.map((elicitation): InboxItem => {
    const item = known.get(elicitation.elicitationId);
    // A list may have been on its way while the answer was given; an end is never taken back.
    return item !== undefined && isTerminal(item.elicitation.status) ? item : { elicitation };
  });
  const gone = items.filter(({ elicitation }) => !waiting.has(elicitation.elicitationId));
  return {
    items: [...merged, ...gone.map((item) => ({ leftAt: at, ...item }))].sort(newestFirst),
    arrived: open.filter(({ elicitationId }) => !known.has(elicitationId)),
    left: gone.filter((item) => item.leftAt === undefined).map((item) => item.elicitation.elicitationId),
  };
}

/** Notes how a question ended; one that is still open, or not in the list, changes nothing. */
export function end(
  items: readonly InboxItem[],
  ended: Pick<Elicitation, 'elicitationId' | 'status'>,
  at: number,
): readonly InboxItem[] {
  if (!isTerminal(ended.status)) return items;
  return items.map((item) =>
    item.elicitation.elicitationId === ended.elicitationId && !isTerminal(item.elicitation.status)
      ? { leftAt: item.leftAt ?? at, elicitation: { ...item.elicitation, ...ended } }
      : item,
  );
}

/** Notes that nobody could tell how a question ended. */
export function lose(items: readonly InboxItem[], elicitationId: string): readonly InboxItem[] {
  return items.map((item) =>
    item.elicitation.elicitationId === elicitationId && item.leftAt !== undefined
      ? { ...item, isLost: true }
      : item,
  );
}

/** The list without what left before `since`, except for what somebody is at. */
export function drop(
  items: readonly InboxItem[],
  since: number,
  isHeld: (elicitationId: string) => boolean,
): readonly InboxItem[] {
  const kept = items.filter(
    ({ leftAt, elicitation }) => leftAt === undefined || leftAt > since || isHeld(elicitation.elicitationId),
  );
  return kept.length === items.length ? items : kept;
}

/** How many still wait. */
export function countWaiting(items: readonly InboxItem[]): number {
  return items.filter(({ leftAt }) => leftAt === undefined).length;
}

function newestFirst({ elicitation: a }: InboxItem, { elicitation: b }: InboxItem): number {
  const later = Date.parse(b.createdAt ?? '') - Date.parse(a.createdAt ?? '');
  return later || (a.elicitationId < b.elicitationId ? -1 : 1);
}
