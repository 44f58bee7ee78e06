import { LRUCache } from 'lru-cache';
import type { Family, FamilyTypes, RowOf } from '../../domain/family.ts';

/** Limits of one process, for the rows of one family. */
const ROWS_MAX = 10_000;
const BYTES_MAX = 8 * 1024 * 1024;

/** A row that was noted, and the present time on the Redis clock. Another process may have moved or removed the row since. */
export interface KnownRow<T extends FamilyTypes> {
  readonly row: RowOf<T>;
  readonly now: number;
  readonly isKnown: true;
}

/** Open rows that this process has committed. Whoever moves one of them next here need not read it first. */
export interface KnownRows<T extends FamilyTypes> {
  /** Remembers an open row that was just committed or read; forgets one that has ended. */
  note(seen: Pick<KnownRow<T>, 'row' | 'now'>): void;
  forget(id: string): void;
  find(id: string): KnownRow<T> | undefined;
}

/** The definition is kept as text, which takes a fraction of the memory of its objects. */
interface NotedRow<T extends FamilyTypes> {
  readonly definition: string;
  readonly row: Omit<RowOf<T>, 'definition'>;
  /** The Redis clock less that of this process, in ms. */
  readonly clockOffset: number;
}

export function createKnownRows<T extends FamilyTypes>(family: Pick<Family<T>, 'isTerminal'>): KnownRows<T> {
  const rows = new LRUCache<string, NotedRow<T>>({ max: ROWS_MAX, maxSize: BYTES_MAX });
  return {
    note({ row: { definition, ...row }, now }) {
      if (family.isTerminal(row.status)) {
        rows.delete(row.id);
        return;
      }
      const text = JSON.stringify(definition);
      rows.set(
        row.id,
        { definition: text, row, clockOffset: now - performance.now() },
        { size: text.length },
      );
    },
    forget: (id) => void rows.delete(id),
    find(id) {
      const known = rows.get(id);
      if (known === undefined) return undefined;
      const { row, definition, clockOffset } = known;
      const whole = { ...row, definition: JSON.parse(definition) } as RowOf<T>;
      return { row: whole, now: Math.floor(performance.now() + clockOffset), isKnown: true };
    },
  };
}
