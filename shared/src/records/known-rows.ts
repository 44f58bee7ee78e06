import type { Family, FamilyTypes, RowOf } from '@parley/core/domain/family';

/** What a row takes beside its definition, which may take two bytes a character. */
const BYTES_BESIDE = 500;
/** A row is kept for this long after it was noted, and at most this long after its deadline, in ms. */
const KEPT_MS = 600_000;
const KEPT_AFTER_DEADLINE_MS = 60_000;
/** Of the rows, when they have become too many. */
const KEPT_SHARE = 15 / 16;

/** A row that was noted, and the present time on the Redis clock. Another process may have moved or removed the row since. */
interface KnownRow<T extends FamilyTypes> {
  readonly row: RowOf<T>;
  readonly now: number;
  readonly isKnown: true;
}

/**
 * Open rows that this process has created, moved or shown. Their next move by this process needs no read.
 *
 * One rule holds for every row that a process keeps, here and in a waiter: it may be out of date, and nobody is told anything
 * by it alone. It can become the base of a commit, which compares revision and creation time, moves nothing that has ended, and
 * brings the present row where it refuses. It can also become the base of an end that a wake tells with its settlement, where
 * that has the next revision (`endingIn`): waiters continue, and readers of a stream get the event, without a read. Whatever else is
 * to be decided or told is read in the store. The definition is the part that never changes.
 */
export interface KnownRows<T extends FamilyTypes> {
  /** Remembers an open row as the store returned it; removes one that has ended. */
  note(seen: Pick<KnownRow<T>, 'row' | 'now'>): void;
  remove(id: string): void;
  find(id: string): KnownRow<T> | undefined;
}

/** The known rows of all families together, whose ids differ. */
interface ProcessRows {
  of<T extends FamilyTypes>(family: Pick<Family<T>, 'isTerminal'>): KnownRows<T>;
  /** Removes the rows whose time is over. */
  purge(): void;
}

/** The definition is kept as text, which takes a fraction of the memory of its objects. */
interface NotedRow {
  readonly definition: string;
  readonly row: Omit<RowOf<FamilyTypes>, 'definition'>;
  /** The Redis clock less that of this process, in ms. */
  readonly clockOffset: number;
  readonly bytes: number;
  /** When it is known no more, by `performance.now()`. */
  readonly until: number;
}

/** `bytesMax`: the memory that the rows take at most, about; the ones noted or found longest ago leave first. */
export function createKnownRows(bytesMax: number): ProcessRows {
  // In the order in which they were noted or found. The caches of packages clear lists as long as they have ever been when
  // their only entry leaves, as it does on a pod with one question at a time.
  const rows = new Map<string, NotedRow>();
  let bytes = 0;

  function remove(id: string): void {
    bytes -= rows.get(id)?.bytes ?? 0;
    rows.delete(id);
  }

  /** Removes the oldest, so many at once: a map passes all places that have become free on its way to the first entry. */
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
