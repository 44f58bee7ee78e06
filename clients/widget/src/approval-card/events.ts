import type { Approval } from '../approval.ts';

/** Detail of `approval-change`: the approval's new status. */
export interface ApprovalStatusChange {
  readonly approvalId: string;
  readonly status: Approval['status'];
}

/** Detail of `approval-settled`. `here` is true when this card decided. */
export interface ApprovalSettled extends ApprovalStatusChange {
  readonly here: boolean;
}

/** Dispatches an event about an approval. It never contains arguments or what the person wrote. */
export function dispatchApproval(
  card: Element,
  name: 'change' | 'settled',
  { approvalId, status }: Approval,
  more?: { readonly here: boolean },
): void {
  const detail = { approvalId, status, ...more };
  card.dispatchEvent(new CustomEvent(`approval-${name}`, { detail, bubbles: true, composed: true }));
}
