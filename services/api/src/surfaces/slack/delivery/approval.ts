import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import type { OutboxResult } from '@parley/shared/ports/delivery/outbox';
import { approvalMessage } from '../mapping/approval.ts';
import type { SlackThread } from '../store/threads.ts';
import type { SlackDeliveryDeps } from './deps.ts';
import { deliverRecord } from './record.ts';
import { stepTask } from './step.ts';

/** Updates the message of an approval. It reads the row at each attempt, so a task may run late or twice. */
export async function deliverApproval(
  deps: SlackDeliveryDeps,
  approvalId: string,
  attempt: number,
): Promise<OutboxResult> {
  const { row, now } = await deps.approvals.read(approvalId);
  if (row === undefined) return 'done';
  const isOpen = !isApprovalEnded(row.status);
  const shown = {
    row,
    now,
    isOpen,
    isUntouched: isOpen,
    messageAt: ({ userId: user, isPrivate }: SlackThread) => approvalMessage(row, { user, isPrivate }),
    async afterwards() {
      await deps.places.putCall(row.definition, row.definition.step, row.id);
      await deps.outbox.add(stepTask(row), row.definition.tenant);
    },
  };
  return deliverRecord(deps, shown, attempt);
}
