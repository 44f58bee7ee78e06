import { ApprovalCard } from './approval-card/card.ts';
import { RememberedApprovals } from './approval-card/remembered.ts';

export type { ApprovalChoice, RememberedApproval } from '@parley/core';
export { type Approval, isApproval, isPending } from './approval.ts';
export { ApprovalCard } from './approval-card/card.ts';
export type { ApprovalSettled, ApprovalStatusChange } from './approval-card/events.ts';
export type { CallState } from './approval-card/model.ts';
export { RememberedApprovals } from './approval-card/remembered.ts';
export { askerOf, titleOf, toolNameOf } from './approval-card/texts.ts';
export { type ApprovalStrings, ENGLISH_APPROVAL } from './strings/approval.ts';

// A page may load this file twice, from two addresses; the first definition stays.
for (const [name, element] of [
  ['approval-card', ApprovalCard],
  ['remembered-approvals', RememberedApprovals],
] as const) {
  if (customElements.get(name) === undefined) customElements.define(name, element);
}

declare global {
  interface HTMLElementTagNameMap {
    'approval-card': ApprovalCard;
    'remembered-approvals': RememberedApprovals;
  }
  interface HTMLElementEventMap {
    'approval-change': CustomEvent<import('./approval-card/events.ts').ApprovalStatusChange>;
    'approval-settled': CustomEvent<import('./approval-card/events.ts').ApprovalSettled>;
  }
}
