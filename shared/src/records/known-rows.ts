/**
 * A cache of open rows, which saves a read for most answers. It decides nothing: a cached row can only be the base of a commit,
 * which checks it.
 */

import type { Family, FamilyTypes, RowOf } from '@parley/core/domain/family';

/** The size of a row without its definition, in bytes. The definition may take two bytes per character. */
const BYTES_BESIDE = 500;
/** A row is cached for this long after it was noted, but at most this long after its deadline, in ms. */
const KEPT_MS = 600_000;
const KEPT_AFTER_DEADLINE_MS = 60_000;
/** When the rows take too much memory, this share of it is kept. */
const KEPT_SHARE = 15 / 16;

/**
 * A cached row, and the present time on the Redis clock. Another process may have moved or removed the row since it was cached.
 */
interface KnownRow<T extends FamilyTypes> {
  readonly row: RowOf<T>;
  readonly now: number;
  readonly isKnown: true;
}

/**
 * Open rows that this process has created, moved or shown. The next move of such a row by this process needs no read.
 *
 * One rule holds for every row that a process keeps, here and in a waiter: it may be out of date, and nobody is told anything
 * by it alone. It can become the base of a commit, which compares revision and creation time, moves nothing that has ended, and
 * brings the present row where it refuses. It can also become the base of an end that a wake tells with its settlement, where
 * that has the next revision (`endingIn`): waiters continue, and readers of a stream get the event, without a read. Whatever
 * else is to be decided or told is read in the store. The definition is the part that never changes.
 */
export interface KnownRows<T extends FamilyTypes> {
  /** Caches an open row as the store returned it; removes a row that has ended. */
  note(seen: Pick<KnownRow<T>, 'row' | 'now'>): void;
  remove(id: string): void;
  find(id: string): KnownRow<T> | undefined;
}

/** The cached rows of all families in one process. Ids are unique across families. */
interface ProcessRows {
  of<T extends FamilyTypes>(family: Pick<Family<T>, 'isTerminal'>): KnownRows<T>;
  /** Removes the rows whose cache time has ended. */
  purge(): void;
}

/** The definition is kept as text, which takes a fraction of the memory of its objects. */
interface NotedRow {
  readonly definition: string;
  readonly row: Omit<RowOf<FamilyTypes>, 'definition'>;
  /** The Redis clock minus the clock of this process, in ms. */
  readonly clockOffset: number;
  readonly bytes: number;
  /** When the row is dropped, by `performance.now()`. */
  readonly until: number;
}

/**
 * Makes the cache of a process. `bytesMax` is roughly the maximum memory of its rows; the least recently used ones are dropped
 * first.
 */
export function createKnownRows(bytesMax: number): ProcessRows {
  // Entries are in the order of their last use. A plain Map is used because cache packages clear lists of their full former
  // length when their only entry is removed, which happens all the time on a pod with one question at a time.
  const rows = new Map<string, NotedRow>();
  let bytes = 0;

  function remove(id: string): void {
    bytes -= rows.get(id)?.bytes ?? 0;
    rows.delete(id);
  }

  /** Removes many of the oldest rows at once, because a map skips every freed slot on the way to its first entry. */
  function makeRoom(): void {
    if (bytes <= bytesMax) return;
    for (const id of rows.keys()) {
      if (bytes <= bytesMax * KEPT_SHARE) return;
      remove(id);
    }
  }

  return {
    purge() {
      const now = performance.now();
      for (const [id, { until }] of rows) if (until <= now) remove(id);
    },
    of: <T extends FamilyTypes>(family: Pick<Family<T>, 'isTerminal'>): KnownRows<T> => ({
      note({ row: seen, now }) {
        const kept = rows.get(seen.id);
        remove(seen.id);
        if (family.isTerminal(seen.status)) return;
        const { definition, ...row } = seen;
        const text = kept?.row.createdAt === row.createdAt ? kept.definition : JSON.stringify(definition);
        const size = 2 * text.length + BYTES_BESIDE;
        if (size > bytesMax) return;
        const localNow = performance.now();
        const keptMs = Math.min(KEPT_MS, Math.max(0, row.expiresAt - now) + KEPT_AFTER_DEADLINE_MS);
        const noted = {
          definition: text,
          row,
          clockOffset: now - localNow,
          bytes: size,
          until: localNow + keptMs,
        };
        rows.set(row.id, noted);
        bytes += size;
        makeRoom();
      },
      remove,
      find(id) {
        const known = rows.get(id);
        if (known === undefined || known.until <= performance.now()) return undefined;
        rows.delete(id);
        rows.set(id, known);
        const { row, definition, clockOffset } = known;
        const whole = { ...row, definition: JSON.parse(definition) } as RowOf<T>;
        return { row: whole, now: Math.floor(performance.now() + clockOffset), isKnown: true };
      },
    }),
  };
}
