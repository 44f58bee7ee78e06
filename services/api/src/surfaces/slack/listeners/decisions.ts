import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import type { Owner } from '@parley/core/domain/ids';
import type { ApprovalInput } from '@parley/shared/domain/approvals/response-input';
import type { ApprovalRow } from '@parley/shared/domain/approvals/types';
import { approvalOverText } from '../mapping/approval.ts';
import type { ListenerDeps } from './deps.ts';
import { createOwnRecords, settleInSlack } from './own-records.ts';

const OVER_CODES: readonly string[] = ['already_settled', 'expired'];

/** The approvals of the person who acts in Slack. */
export const APPROVALS = createOwnRecords<ApprovalRow>({
  read: ({ engine }, caller, id) => engine.approvals.read(caller, id),
  overText: (row, reader) => (isApprovalEnded(row.status) ? approvalOverText(row, reader) : undefined),
});

/** The text for other people. */
export const NOT_YOURS = 'Only the person who was asked can decide on this call.';

/**
 * The approvals with these ids that are still stored. Undefined if none belongs to this person. A message contains calls of
 * only one person.
 */
export async function findApprovals(
  deps: ListenerDeps,
  owner: Owner,
  ids: readonly string[],
): Promise<ApprovalRow[] | undefined> {
  const rows = await Promise.all(ids.map((id) => APPROVALS.find(deps, owner, id)));
  const found = rows.filter((row) => row !== undefined);
  return found.length > 0 ? found : undefined;
}

/** Records a decision. Returns why it was refused. Throws `unavailable`; Slack then shows a failure. */
export function decide(deps: ListenerDeps, owner: Owner, id: string, response: ApprovalInput) {
  return settleInSlack(deps, owner, id, (by) => deps.engine.approvals.decide({ ...by, response }));
}

/** Records the same decision on several calls. If not all were recorded, returns a plain text for the person. */
export async function decideAll(
  deps: ListenerDeps,
  owner: Owner,
  rows: readonly ApprovalRow[],
  response: ApprovalInput,
): Promise<string | undefined> {
  const outcomes = await Promise.all(rows.map(({ id }) => decide(deps, owner, id, response)));
  const faults = outcomes.filter((fault) => fault !== undefined);
  if (faults.length === 0) return undefined;
  const recorded = `Your decision was recorded for ${rows.length - faults.length} of ${rows.length} calls.`;
  const other = faults.find(({ code }) => !OVER_CODES.includes(code));
  return `${recorded} ${other?.message ?? 'The others were over before.'}`;
}
