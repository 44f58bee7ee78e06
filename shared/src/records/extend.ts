import type { FamilyTypes } from '@parley/core/domain/family';
import type { Caller } from '../domain/caller.ts';
import type { RecordDeps } from './family-deps.ts';
import { readRecord, type SeenRecord } from './read.ts';
import { settle } from './settle.ts';

export interface ExtendRequest<T extends FamilyTypes> {
  readonly caller: Caller;
  readonly id: string;
  /** How many seconds to add to the deadline. */
  readonly seconds: number;
  /** The row, if the caller has already read it. It may have changed since then. */
  readonly seen?: SeenRecord<T>;
}

/**
 * Moves the deadline of an open record. The new deadline is computed from the row as read, so a commit that Redis runs twice,
 * or two operators who extend at once, move it once. Throws `already_settled` or `expired`, and `invalid_request` for a
 * deadline that is too late.
 */
export async function extendRecord<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  { caller, id, seconds, seen }: ExtendRequest<T>,
): Promise<SeenRecord<T>> {
  const read = seen ?? (await readRecord(deps, caller, id));
  return settle(deps, { caller }, read, { type: 'extend', expiresAt: read.row.expiresAt + seconds * 1000 });
}
