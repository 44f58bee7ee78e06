import type { FamilyTypes } from '@parley/core/domain/family';
import { type Caller, keyIdOf, maySee, notFound } from '../domain/caller.ts';
import type { RecordDeps } from './family-deps.ts';
import { readUnlessKnown, type SeenRecord } from './read.ts';
import { settle } from './settle.ts';

export interface WithdrawRequest<T extends FamilyTypes> {
  readonly caller: Caller;
  readonly id: string;
  /** A short code, such as `run_stopped`, `superseded` or `undeliverable`. */
  readonly reason: string;
  /** The row, if the caller has already read it. It may have changed since then. */
  readonly seen?: SeenRecord<T>;
}

/** Withdraws a record. Withdrawing it again changes nothing. Throws `already_settled` for a settled record. */
export async function withdraw<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  { caller, id, reason, seen }: WithdrawRequest<T>,
): Promise<SeenRecord<T>> {
  if (seen !== undefined && !maySee(caller, seen.row)) throw notFound();
  return settle(deps, { caller }, seen ?? (await readUnlessKnown(deps, caller, id)), {
    type: 'withdraw',
    reason,
    key: keyIdOf(caller),
  });
}
