import type { FamilyTypes, RowOf } from '@parley/core/domain/family';
import { bucketOfRecordId } from '@parley/core/domain/ids';
import { type Caller, maySee, notFound } from '../domain/caller.ts';
import type { RecordDeps } from './family-deps.ts';

/** A row the caller may see, and the clock. */
export interface SeenRecord<T extends FamilyTypes> {
  readonly row: RowOf<T>;
  readonly now: number;
  /** True for a row that this process knows without a read. Only the commit that follows from it shows whether it still stands. */
  readonly isKnown?: true;
}

/** True for an id that Parley can have minted for a record of the family. */
export function isIdOf<T extends FamilyTypes>(
  { family }: Pick<RecordDeps<T>, 'family'>,
  id: string,
): boolean {
  return id.startsWith(family.prefix) && bucketOfRecordId(id) !== undefined;
}

/** Reads a record for a caller. Missing and malformed ids, and those of others, are all the same `not_found`. */
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

/** As `readRecord`, without the read where this process knows the row. For `settle`, which reads it where it must. */
export async function readUnlessKnown<T extends FamilyTypes>(
  deps: Pick<RecordDeps<T>, 'family' | 'records' | 'known'>,
  caller: Caller,
  id: string,
): Promise<SeenRecord<T>> {
  const seen = deps.known.find(id);
  // Others are refused after a read, so that the time until then does not tell them what exists.
  return seen !== undefined && maySee(caller, seen.row) ? seen : readRecord(deps, caller, id);
}
