import { LRUCache } from 'lru-cache';
import type { Family, FamilyTypes, RowOf } from '../domain/family.ts';

/** What a row takes beside its definition, which may take two bytes a character. */
const BYTES_BESIDE = 500;
/** A row is kept for this long after it was noted, and at most this long after its deadline, in ms. */
const KEPT_MS = 600_000;
const KEPT_AFTER_DEADLINE_MS = 60_000;

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
 * by it. It can only become the base of a commit, which compares revision and creation time, moves nothing that has ended, and
 * brings the present row where it refuses; a wake replaces its state only with a newer revision; whatever else is to be decided
 * is decided on the row in the store. The definition is the part that never changes.
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
}

/** `bytesMax`: the memory that the rows take at most, about; the ones noted or found longest ago leave first. */
export function createKnownRows(bytesMax: number): ProcessRows {
  const rows = new LRUCache<string, NotedRow>({
    maxSize: bytesMax,
    perf: { now: () => performance.now() },
  });
  return {
    purge: () => void rows.purgeStale(),
    of: <T extends FamilyTypes>(family: Pick<Family<T>, 'isTerminal'>): KnownRows<T> => ({
      note({ row: seen, now }) {
        if (family.isTerminal(seen.status)) {
          rows.delete(seen.id);
          return;
        }
        const { definition, ...row } = seen;
        const kept = rows.peek(row.id);
        const text = kept?.row.createdAt === row.createdAt ? kept.definition : JSON.stringify(definition);
        const ttl = Math.min(KEPT_MS, Math.max(0, row.expiresAt - now) + KEPT_AFTER_DEADLINE_MS);
        rows.set(
          row.id,
          { definition: text, row, clockOffset: now - performance.now() },
          { size: 2 * text.length + BYTES_BESIDE, ttl },
        );
      },
      remove: (id) => void rows.delete(id),
      find(id) {
        const known = rows.get(id);
        if (known === undefined) return undefined;
        const { row, definition, clockOffset } = known;
        const whole = { ...row, definition: JSON.parse(definition) } as RowOf<T>;
        return { row: whole, now: Math.floor(performance.now() + clockOffset), isKnown: true };
      },
    }),
  };
}
