import { isApprovalEnded } from '@parley/shared/domain/approvals/status';
import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import { approvalMessage } from '../mapping/approval.ts';
import type { SlackDeliveryDeps } from './deps.ts';
import { failed, turnTask } from './question.ts';
import { showRecord } from './record.ts';
import { stepTask } from './step.ts';

/** Brings the message of an approval up to date, in the thread of its turn. Reads the row at each attempt. */
export async function deliverApproval(
  deps: SlackDeliveryDeps,
  approvalId: string,
  attempt: number,
): Promise<OutboxResult> {
  const { row } = await deps.approvals.read(approvalId);
  if (row === undefined) return 'done';
  const { definition: owner, status } = row;
  const place = await deps.places.turn(owner);
  if (place === undefined) return 'done';
  const isOpen = !isApprovalEnded(status);
  // The reply continues below the approval once the turn does.
  if (!isOpen) await deps.outbox.add(turnTask(owner));
  const installation = await deps.installations.find(place);
  if (installation === undefined) return 'done';
  try {
    const client = await deps.clientOf(installation.botToken);
    const message = approvalMessage(row, { user: place.userId, isPrivate: place.isPrivate });
    const shown = { id: row.id, owner, isUntouched: isOpen, isOpen, message };
    const result = await showRecord(deps, client, shown, place);
    if (result === undefined) return 'done';
    if ('deferInMs' in result) return result;
    await deps.outbox.add(stepTask(row));
    return 'done';
  } catch (error) {
    return failed(deps, error, approvalId, attempt);
  }
}
