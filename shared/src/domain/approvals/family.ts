import { approvalEventOf } from '@parley/core/domain/approvals/events';
import { isApprovalEnded } from '@parley/core/domain/approvals/status';
import type { Family } from '@parley/core/domain/family';
import { approvalTransition } from './transition.ts';
import type { ApprovalTypes } from './types.ts';
import { toApprovalWire } from './wire.ts';

/** The record family of approvals: tool calls that wait for a person's decision. */
export const APPROVALS: Family<ApprovalTypes> = {
  prefix: 'ap',
  noun: 'approval',
  initialStatus: 'pending',
  openStatuses: ['pending'],
  isTerminal: isApprovalEnded,
  decide: approvalTransition,
  eventOf: approvalEventOf,
  wakeHintOf: (approvalId, revision, status) => ({ approvalId, revision, status }),
  readWake: ({ approvalId: id, revision, status, at, settlement }) => ({
    id,
    revision,
    status,
    at,
    ...(settlement !== undefined && { settlement }),
  }),
  toWire: toApprovalWire,
};
