import { LRUCache } from 'lru-cache';
import type { Family, FamilyTypes, RowOf } from '../../domain/family.ts';

/** Limits of one process, for the rows of one family. */
const ROWS_MAX = 10_000;
const BYTES_MAX = 16 * 1024 * 1024;
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

/** Open rows that this process has created or moved. Their next move by this process needs no read. */
export interface KnownRows<T extends FamilyTypes> {
  /** Remembers an open row as a commit returned it; removes one that has ended. */
  note(seen: Pick<KnownRow<T>, 'row' | 'now'>): void;
  remove(id: string): void;
  find(id: string): KnownRow<T> | undefined;
  /** Removes the rows whose time is over. */
  purge(): void;
}

/** The definition is kept as text, which takes a fraction of the memory of its objects. */
interface NotedRow<T extends FamilyTypes> {
  readonly definition: string;
  readonly row: Omit<RowOf<T>, 'definition'>;
  /** The Redis clock less that of this process, in ms. */
  readonly clockOffset: number;
}

export function createKnownRows<T extends FamilyTypes>(family: Pick<Family<T>, 'isTerminal'>): KnownRows<T> {
  const rows = new LRUCache<string, NotedRow<T>>({
    max: ROWS_MAX,
    maxSize: BYTES_MAX,
    perf: { now: () => performance.now() },
  });
  return {
    note({ row: { definition, ...row }, now }) {
      if (family.isTerminal(row.status)) {
        rows.delete(row.id);
        return;
      }
      const text = JSON.stringify(definition);
      const ttl = Math.min(KEPT_MS, Math.max(0, row.expiresAt - now) + KEPT_AFTER_DEADLINE_MS);
      rows.set(
        row.id,
        { definition: text, row, clockOffset: now - performance.now() },
        { size: 2 * text.length + BYTES_BESIDE, ttl },
      );
    },
    remove: (id) => void rows.delete(id),
    purge: () => void rows.purgeStale(),
    find(id) {
      const known = rows.get(id);
      if (known === undefined) return undefined;
      const { row, definition, clockOffset } = known;
      const whole = { ...row, definition: JSON.parse(definition) } as RowOf<T>;
      return { row: whole, now: Math.floor(performance.now() + clockOffset), isKnown: true };
    },
  };
}
