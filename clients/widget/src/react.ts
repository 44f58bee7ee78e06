import { createComponent, type EventName } from '@lit/react';
import * as React from 'react';
import {
  ApprovalCard as ApprovalElement,
  type ApprovalSettled,
  type ApprovalStatusChange,
  RememberedApprovals as RememberedElement,
} from './approvals.ts';
import { type InboxChange, ElicitationInbox as InboxElement } from './inbox.ts';
import { ElicitationCard as CardElement, type ElicitationChange, type ElicitationSettled } from './index.ts';

/** `<elicitation-card>` for React: its properties as props, its events as `onElicitation…`. */
export const ElicitationCard = createComponent({
  react: React,
  tagName: 'elicitation-card',
  elementClass: CardElement,
  displayName: 'ElicitationCard',
  events: {
    onElicitationChange: 'elicitation-change' as EventName<CustomEvent<ElicitationChange>>,
    onElicitationSettled: 'elicitation-settled' as EventName<CustomEvent<ElicitationSettled>>,
  },
});

/** `<approval-card>` for React: its properties as props, its events as `onApproval…`. */
export const ApprovalCard = createComponent({
  react: React,
  tagName: 'approval-card',
  elementClass: ApprovalElement,
  displayName: 'ApprovalCard',
  events: {
    onApprovalChange: 'approval-change' as EventName<CustomEvent<ApprovalStatusChange>>,
    onApprovalSettled: 'approval-settled' as EventName<CustomEvent<ApprovalSettled>>,
  },
});

/** `<remembered-approvals>` for React. */
export const RememberedApprovals = createComponent({
  react: React,
  tagName: 'remembered-approvals',
  elementClass: RememberedElement,
  displayName: 'RememberedApprovals',
});

/** `<elicitation-inbox>` for React. */
export const ElicitationInbox = createComponent({
  react: React,
  tagName: 'elicitation-inbox',
  elementClass: InboxElement,
  displayName: 'ElicitationInbox',
  events: {
    onElicitationInboxChange: 'elicitation-inbox-change' as EventName<CustomEvent<InboxChange>>,
  },
});

export type ElicitationCardProps = React.ComponentProps<typeof ElicitationCard>;
export type ApprovalCardProps = React.ComponentProps<typeof ApprovalCard>;
export type ElicitationInboxProps = React.ComponentProps<typeof ElicitationInbox>;
