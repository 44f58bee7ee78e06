import { isParleyError } from '@parley/core/domain/errors';
import type { FamilyTypes } from '@parley/core/domain/family';
import { isApprovalId } from '@parley/core/domain/ids';
import { type ExpireResult, expire, expireEach } from './expire.ts';
import type { FamiliesDeps, RecordDeps } from './family-deps.ts';

/** Expires the record with this id, of any family, if its deadline has passed. The deadline index lists all families. */
export function expireAny({ families }: FamiliesDeps, id: string): Promise<ExpireResult> {
  return isApprovalId(id) ? expire(families.approvals, id) : expire(families.questions, id);
}

/** The result of expiring several records. */
interface ExpiredTogether {
  /** The results by id. A record that could not be expired has none. */
  readonly results: ReadonlyMap<string, ExpireResult>;
  /** The error of the records that could not be reached, if there were any. */
  readonly unavailable?: unknown;
}

/** The same as `expireAny` for several records. Records that cannot be expired are reported to the observer. */
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
