import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { FamilyTypes } from '@parley/core/domain/family';
import type { Wake } from '../domain/elicitations/wake.ts';
import type { FamiliesDeps, RecordDeps } from './family-deps.ts';

/** Removes what this process keeps of an open record, once it has learnt that the record has ended. */
export function recordEnded<T extends FamilyTypes>(
  { timers, known }: Pick<RecordDeps<T>, 'timers' | 'known'>,
  id: string,
): void {
  timers?.cancel(id);
  known.remove(id);
}

/** As `recordEnded`, where a wake says that another pod has ended a record. */
export function endedByWake({ families }: Pick<FamiliesDeps, 'families'>, wake: Wake): void {
  if ('approvalId' in wake && isApprovalEnded(wake.status)) recordEnded(families.approvals, wake.approvalId);
  if ('elicitationId' in wake && isTerminal(wake.status)) recordEnded(families.questions, wake.elicitationId);
}
