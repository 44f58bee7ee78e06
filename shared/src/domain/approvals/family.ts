import type { Family } from '../family.ts';
import { approvalEventOf } from './events.ts';
import { isApprovalEnded } from './status.ts';
import { approvalTransition } from './transition.ts';
import type { ApprovalTypes } from './types.ts';
import { toApprovalWire } from './wire.ts';

/** Calls of tools that a person approves before they are made. */
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
