import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import type { Family, FamilyTypes, RecordWake, RowOf } from '@parley/core/domain/family';
import type { Wake } from '../domain/elicitations/wake.ts';
import type { FamiliesDeps, RecordDeps } from './family-deps.ts';

/** Drops what this process keeps of an open record, after learning that the record has ended. */
export function recordEnded<T extends FamilyTypes>(
  { timers, known }: Pick<RecordDeps<T>, 'timers' | 'known'>,
  id: string,
): void {
  timers?.cancel(id);
  known.remove(id);
}

/**
 * What a wake changes in a row that it ends, where the wake carries the settlement and the revision after `revision`, by the rule
 * of `KnownRows`; otherwise nothing. A commit in between, whose wake was missed, may have moved the deadline.
 */
export function endingIn<T extends FamilyTypes>(
  family: Pick<Family<T>, 'isTerminal'>,
  { status, revision, settlement, at }: RecordWake<T>,
  known: { readonly revision: number },
): Partial<RowOf<T>> | undefined {
  if (revision !== known.revision + 1 || !family.isTerminal(status) || settlement === undefined)
    return undefined;
  return { status, revision, settlement, settledAt: at } as Partial<RowOf<T>>;
}

/** As `recordEnded`, where a wake says that another pod has ended a record. */
export function endedByWake({ families }: Pick<FamiliesDeps, 'families'>, wake: Wake): void {
  if ('approvalId' in wake && isApprovalEnded(wake.status)) recordEnded(families.approvals, wake.approvalId);
  if ('elicitationId' in wake && isTerminal(wake.status)) recordEnded(families.questions, wake.elicitationId);
}
