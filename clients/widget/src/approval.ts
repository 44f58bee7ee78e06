import type { Approval as Wire } from '@parley/core/domain/approvals/approval';
import { APPROVAL_STATUSES, isApprovalEnded } from '@parley/core/domain/approvals/status';
import { isRecord } from '@parley/core/domain/plain-record';

type NeededOfApproval = 'approvalId' | 'tool' | 'arguments' | 'status';

/** An approval as the widget accepts it: the wire form of `/v1`, with only four required fields. Times are ISO 8601. */
export type Approval = Readonly<Pick<Wire, NeededOfApproval> & Partial<Omit<Wire, NeededOfApproval>>>;

const TEXTS = ['step', 'agent', 'reason', 'createdAt', 'expiresAt', 'settledAt', 'serverTime'];

/** Whether a value can be shown as an approval. Unknown keys are allowed, but an unknown status is not. */
export function isApproval(value: unknown): value is Approval {
  if (!isRecord(value) || !isRecord(value.tool)) return false;
  const { approvalId, tool, status, masked = [] } = value;
  return (
    typeof approvalId === 'string' &&
    approvalId !== '' &&
    [tool.server, tool.name, tool.title ?? '', tool.serverTitle ?? ''].every(
      (text) => typeof text === 'string',
    ) &&
    (tool.hints === undefined || isRecord(tool.hints)) &&
    isRecord(value.arguments) &&
    (value.editedArguments === undefined || isRecord(value.editedArguments)) &&
    (value.inputSchema === undefined || isRecord(value.inputSchema)) &&
    Array.isArray(masked) &&
    (APPROVAL_STATUSES as readonly unknown[]).includes(status) &&
    TEXTS.every((key) => value[key] === undefined || typeof value[key] === 'string')
  );
}

/** Whether the person can still decide. */
export function isPending({ status }: Pick<Approval, 'status'>): boolean {
  return !isApprovalEnded(status);
}

/** The newer of two views of one approval. A decision never changes, so the view with a decision wins. */
export function newerApproval(known: Approval | undefined, next: Approval): Approval {
  if (known === undefined || known.approvalId !== next.approvalId) return next;
  if (!isPending(known)) return isPending(next) ? known : { ...next, ...known };
  return next;
}
