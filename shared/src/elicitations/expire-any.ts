import { isApprovalId } from '../domain/ids.ts';
import type { EngineDeps } from './deps.ts';
import { approvalDeps, elicitationDeps } from './records/deps.ts';
import { type ExpireResult, expire } from './records/expire.ts';

/** Ends the record of any family that has this id, if its deadline has passed. The deadline index lists all families. */
export function expireAny(deps: EngineDeps, id: string): Promise<ExpireResult> {
  return isApprovalId(id) ? expire(approvalDeps(deps), id) : expire(elicitationDeps(deps), id);
}
