import { isParleyError } from '@parley/core/domain/errors';
import type { FamilyTypes } from '@parley/core/domain/family';
import { isApprovalId } from '@parley/core/domain/ids';
import { type ExpireResult, expire, expireEach } from './expire.ts';
import type { FamiliesDeps, RecordDeps } from './family-deps.ts';

/** Ends the record of any family that has this id, if its deadline has passed. The deadline index lists all families. */
export function expireAny({ families }: FamiliesDeps, id: string): Promise<ExpireResult> {
  return isApprovalId(id) ? expire(families.approvals, id) : expire(families.questions, id);
}

/** What became of several records that were to be expired. */
interface ExpiredTogether {
  /** By id. A record that could not be expired has no result. */
  readonly results: ReadonlyMap<string, ExpireResult>;
  /** Why a part of the records could not be reached, where that was so. */
  readonly unavailable?: unknown;
}

/** As `expireAny` for each of several records. A record that cannot be expired is reported to the observer. */
export async function expireTogether(
  { families, observer }: FamiliesDeps,
  ids: readonly string[],
): Promise<ExpiredTogether> {
  const results = new Map<string, ExpireResult>();
  let unavailable: unknown;
  const expireFamily = async <T extends FamilyTypes>(family: RecordDeps<T>, part: readonly string[]) => {
    const settled = part.length === 0 ? [] : await expireEach(family, part);
    for (const [index, result] of settled.entries()) {
      const id = part[index] ?? '';
      if (result.status === 'fulfilled') results.set(id, result.value);
      else if (isParleyError(result.reason, 'unavailable')) unavailable = result.reason;
      else observer.sweepFailed(id, result.reason);
    }
  };
  await Promise.all([
    expireFamily(
      families.questions,
      ids.filter((id) => !isApprovalId(id)),
    ),
    expireFamily(families.approvals, ids.filter(isApprovalId)),
  ]);
  return { results, ...(unavailable !== undefined && { unavailable }) };
}
