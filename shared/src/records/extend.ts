import type { FamilyTypes } from '@parley/core/domain/family';
import type { Caller } from '../domain/caller.ts';
import type { RecordDeps } from './family-deps.ts';
import { readRecord, type SeenRecord } from './read.ts';
import { settle } from './settle.ts';

export interface ExtendRequest<T extends FamilyTypes> {
  readonly caller: Caller;
  readonly id: string;
  /** How much later than its deadline the record shall expire. */
  readonly seconds: number;
  /** The row, where the caller has read it already; it may have changed since. */
  readonly seen?: SeenRecord<T>;
}

/**
 * Moves the deadline of an open record. The new deadline follows from the row as it was read, so that a commit that Redis
 * runs twice, and two operators who extend at the same time, move it once. Throws `already_settled`, `expired`, and
 * `invalid_request` for a deadline that is too late.
 */
export async function extendRecord<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  { caller, id, seconds, seen }: ExtendRequest<T>,
): Promise<SeenRecord<T>> {
  const read = seen ?? (await readRecord(deps, caller, id));
  return settle(deps, { caller }, read, { type: 'extend', expiresAt: read.row.expiresAt + seconds * 1000 });
}
