import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isTerminal } from '@parley/core/domain/elicitations/status';
import { type ErrorExtras, ParleyError } from '@parley/core/domain/errors';
import type { ApprovalTypes } from '@parley/shared/domain/approvals/types';
import { toApprovalWire } from '@parley/shared/domain/approvals/wire';
import type { Seen } from '@parley/shared/domain/caller';
import { toWire } from '@parley/shared/domain/elicitations/row';
import type { SeenRecord } from '@parley/shared/records/read';
import { isOnOurPage } from '../../accounts/own-pages.ts';

/**
 * Throws if a link could not lead to an answer of the question. The error does not contain an answer, because a key that may
 * make links may not be allowed to read.
 */
export function refuseUnlinkableQuestion(
  publicUrl: string,
  { row, now }: Seen,
  allowSensitive: boolean,
): void {
  if (isTerminal(row.status) || now >= row.expiresAt)
    throw ended(row.status, isTerminal(row.status), {
      elicitation: toWire(row, { now, content: false }),
    });
  if (isOnOurPage(publicUrl, row))
    throw refused(
      '',
      'is asked on the connect page, where the person signs in; send the `url` of the elicitation',
    );
  if (row.definition.sensitive === true && !allowSensitive)
    throw refused('allowSensitive', 'must be true for a sensitive question; a link can reach another person');
}

/** Throws if a link could not lead to a decision on the call. */
export function refuseUnlinkableApproval(
  { row, now }: SeenRecord<ApprovalTypes>,
  allowHighRisk: boolean,
): void {
  if (isApprovalEnded(row.status) || now >= row.expiresAt)
    throw ended(row.status, isApprovalEnded(row.status), {
      approval: toApprovalWire(row, { now, content: false }),
    });
  if (row.definition.risk === 'high' && !allowHighRisk)
    throw refused('allowHighRisk', 'must be true for a call of a high risk; a link can reach another person');
}

/**
 * The error for a record that has ended. `isNoticed`: its status already says so. Otherwise its deadline has passed and nobody
 * has noticed yet.
 */
function ended(status: string, isNoticed: boolean, about: ErrorExtras): ParleyError {
  return status === 'expired' || !isNoticed
    ? new ParleyError('expired', 'The deadline has passed.', about)
    : new ParleyError('already_settled', `This is already ${status}.`, about);
}

function refused(path: string, message: string): ParleyError {
  return new ParleyError('invalid_request', 'There can be no such answer link; see errors.', {
    issues: [{ path, message }],
  });
}
