import { isParleyError } from '../domain/errors.ts';
import { isApprovalId } from '../domain/ids.ts';
import type { EngineDeps } from './deps.ts';
import { approvalDeps, elicitationDeps } from './records/deps.ts';
import { type ExpireResult, expire, expireMany } from './records/expire.ts';

/** Ends the record of any family that has this id, if its deadline has passed. The deadline index lists all families. */
export function expireAny(deps: EngineDeps, id: string): Promise<ExpireResult> {
  return isApprovalId(id) ? expire(approvalDeps(deps), id) : expire(elicitationDeps(deps), id);
}

/**
 * As `expireAny` for each of several records. A record that cannot be expired is reported to the observer and has no
 * result. Throws `unavailable` once the others have been expired.
 */
export async function expireEach(
  deps: EngineDeps,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ExpireResult>> {
  const approvals = ids.filter(isApprovalId);
  const questions = ids.filter((id) => !isApprovalId(id));
  const results = new Map<string, ExpireResult>();
  const expireFamily = async (part: readonly string[], run: () => Promise<readonly ExpireResult[]>) => {
    if (part.length === 0) return;
    for (const [index, result] of (await run()).entries()) results.set(part[index] ?? '', result);
  };
  try {
    await Promise.all([
      expireFamily(questions, () => expireMany(elicitationDeps(deps), questions)),
      expireFamily(approvals, () => expireMany(approvalDeps(deps), approvals)),
    ]);
  } catch {
    // One damaged row, or one server of a Cluster that is away, must not prevent the others from being expired.
    const alone = ids.filter((id) => !results.has(id)).map((id) => expireAlone(deps, id, results));
    const failed = (await Promise.allSettled(alone)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }
  return results;
}

async function expireAlone(deps: EngineDeps, id: string, results: Map<string, ExpireResult>): Promise<void> {
  try {
    results.set(id, await expireAny(deps, id));
  } catch (error) {
    if (isParleyError(error, 'unavailable')) throw error;
    deps.observer.sweepFailed(id, error);
  }
}
