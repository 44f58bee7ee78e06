import type { FamilyTypes, RowOf } from '../../domain/family.ts';
import { bucketOfRecordId } from '../../domain/ids.ts';
import { type Caller, maySee, notFound } from '../caller.ts';
import type { RecordDeps } from './deps.ts';

/** A row the caller may see, and the clock. */
export interface SeenRecord<T extends FamilyTypes> {
  readonly row: RowOf<T>;
  readonly now: number;
}

/** True for an id that Parley can have minted for a record of the family. */
export function isIdOf<T extends FamilyTypes>(
  { family }: Pick<RecordDeps<T>, 'family'>,
  id: string,
): boolean {
  return id.startsWith(family.prefix) && bucketOfRecordId(id) !== undefined;
}

/** Reads a record for a caller. Missing, malformed and foreign ids are all the same `not_found`. */
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
