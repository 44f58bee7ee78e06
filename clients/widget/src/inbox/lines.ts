/** The lines of an inbox list as values, and how they change, in pure functions. Timers and the connection are in `list.ts`. */

import type { Risk } from '@parley/core/domain/approvals/risk';

/** A record in an inbox: a question or an approval. */
export interface InboxRecord {
  readonly status: string;
  /** ISO 8601. */
  readonly createdAt?: string;
  readonly expiresAt?: string;
  readonly risk?: Risk | undefined;
}

/** What an inbox must know about a kind of record. */
export interface LineKind<Item extends InboxRecord> {
  idOf(item: Item): string;
  hasEnded(item: Pick<Item, 'status'>): boolean;
}

/** One record of the inbox. */
export interface InboxLine<Item extends InboxRecord> {
  readonly id: string;
  readonly item: Item;
  /** When the record stopped being open, in ms on the page's own clock; absent while it is open. */
  readonly closedAt?: number;
  /** True if the record is no longer open, but its end could not be read. */
  readonly isUnknown?: true;
}

/** The result of a merge. */
interface Merged<Item extends InboxRecord> {
  readonly lines: readonly InboxLine<Item>[];
  readonly arrived: readonly Item[];
  /** The ids of records that are no longer open. How they ended is not known yet. */
  readonly closed: readonly string[];
}

/** How a record ended. */
export interface EndedRecord<Item extends InboxRecord> {
  readonly id: string;
  readonly end: Pick<Item, 'status'> & Partial<Item>;
}

/** Merges the open records into the list, newest first. A record that is no longer open stays as a closed line. */
export function merge<Item extends InboxRecord>(
  { idOf, hasEnded }: LineKind<Item>,
  lines: readonly InboxLine<Item>[],
  open: readonly Item[],
  at: number,
): Merged<Item> {
  const known = new Map(lines.map((line) => [line.id, line]));
  const waiting = new Set(open.map(idOf));
  const merged = open.map((item): InboxLine<Item> => {
    const line = known.get(idOf(item));
    // The list may be older than the answer, and a terminal status never changes.
    return line !== undefined && hasEnded(line.item) ? line : { id: idOf(item), item };
  });
  const gone = lines.filter(({ id }) => !waiting.has(id));
  return {
    lines: [...merged, ...gone.map((line) => ({ closedAt: at, ...line }))].sort(newestFirst),
    arrived: open.filter((item) => !known.has(idOf(item))),
    closed: gone.filter((line) => line.closedAt === undefined).map(({ id }) => id),
  };
}

/** Records how a record ended. A record that is still open or not in the list changes nothing. */
export function endLine<Item extends InboxRecord>(
  { hasEnded }: LineKind<Item>,
  lines: readonly InboxLine<Item>[],
  { id, end }: EndedRecord<Item>,
  at: number,
): readonly InboxLine<Item>[] {
  if (!hasEnded(end)) return lines;
  return lines.map((line) =>
    line.id === id && !hasEnded(line.item)
      ? { id, closedAt: line.closedAt ?? at, item: { ...line.item, ...end } }
      : line,
  );
}

/** Records that the end of a record could not be read. */
export function markUnknown<Item extends InboxRecord>(
  lines: readonly InboxLine<Item>[],
  id: string,
): readonly InboxLine<Item>[] {
  return lines.map((line) =>
    line.id === id && line.closedAt !== undefined ? { ...line, isUnknown: true } : line,
  );
}

/** The list without the lines that closed before `since`, except for those in use. */
export function dropClosed<Item extends InboxRecord>(
  lines: readonly InboxLine<Item>[],
  since: number,
  isInUse: (id: string) => boolean,
): readonly InboxLine<Item>[] {
  const kept = lines.filter(({ closedAt, id }) => closedAt === undefined || closedAt > since || isInUse(id));
  return kept.length === lines.length ? lines : kept;
}

/** The number of open records. */
export function countWaiting(lines: readonly InboxLine<InboxRecord>[]): number {
  return lines.filter(({ closedAt }) => closedAt === undefined).length;
}

/** The order of an inbox. */
export function newestFirst(a: InboxLine<InboxRecord>, b: InboxLine<InboxRecord>): number {
  const later = Date.parse(b.item.createdAt ?? '') - Date.parse(a.item.createdAt ?? '');
  return later || (a.id < b.id ? -1 : 1);
}
