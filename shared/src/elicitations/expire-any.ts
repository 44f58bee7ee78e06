import type { ApprovalTypes } from '../domain/approvals/types.ts';
import type { ElicitationTypes } from '../domain/elicitations/types.ts';
import { isParleyError } from '../domain/errors.ts';
import type { FamilyTypes } from '../domain/family.ts';
import { isApprovalId } from '../domain/ids.ts';
import type { EngineDeps } from './deps.ts';
import type { RecordDeps } from './records/deps.ts';
import { type ExpireResult, expire, expireEach } from './records/expire.ts';

/** What the expiry of records of any family needs. */
export interface ExpiryDeps extends EngineDeps {
  readonly families: {
    readonly questions: RecordDeps<ElicitationTypes>;
    readonly approvals: RecordDeps<ApprovalTypes>;
  };
}

/** Ends the record of any family that has this id, if its deadline has passed. The deadline index lists all families. */
export function expireAny({ families }: ExpiryDeps, id: string): Promise<ExpireResult> {
  return isApprovalId(id) ? expire(families.approvals, id) : expire(families.questions, id);
}

/** What became of several records that were to be expired. */
export interface ExpiredTogether {
  /** By id. A record that could not be expired has no result. */
  readonly results: ReadonlyMap<string, ExpireResult>;
  /** Why a part of the records could not be reached, where that was so. */
  readonly unavailable?: unknown;
}

/** As `expireAny` for each of several records. A record that cannot be expired is reported to the observer. */
export async function expireTogether(
  { families, observer }: ExpiryDeps,
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
