import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { bucketOfRecordId } from '@parley/core/domain/ids';
import { type Caller, maySee, notFound } from '../domain/caller.ts';
import type { RecordDeps } from './family-deps.ts';

/** A row that the caller may see, and the Redis clock. */
export interface SeenRecord<T extends FamilyTypes> {
  readonly row: RowOf<T>;
  readonly now: number;
  /** True for a cached row. Only the commit based on it shows whether it is still current. */
  readonly isKnown?: true;
}

/** True for an id of the form that Parley mints for records of the family. */
export function isIdOf<T extends FamilyTypes>(
  { family }: Pick<RecordDeps<T>, 'family'>,
  id: string,
): boolean {
  return id.startsWith(family.prefix) && bucketOfRecordId(id) !== undefined;
}

/** Reads a record for a caller. A missing record, a malformed id and a record of somebody else are the same `not_found`. */
export async function readRecord<T extends FamilyTypes>(
  deps: Pick<RecordDeps<T>, 'family' | 'records'>,
  caller: Caller,
  id: string,
): Promise<SeenRecord<T>> {
  if (!isIdOf(deps, id)) throw notFound();
  const { row, now } = await deps.records.read(id);
  if (row === undefined || !maySee(caller, row)) throw notFound();
  return { row, now };
}

/** The same as `readRecord`, but without a read when the row is cached. For `settle`, which reads the row when it must. */
export async function readUnlessKnown<T extends FamilyTypes>(
  deps: Pick<RecordDeps<T>, 'family' | 'records' | 'known'>,
  caller: Caller,
  id: string,
): Promise<SeenRecord<T>> {
  const seen = deps.known.find(id);
  // Other callers are refused only after a read, so that the response time does not reveal which ids exist.
  return seen !== undefined && maySee(caller, seen.row) ? seen : readRecord(deps, caller, id);
}
