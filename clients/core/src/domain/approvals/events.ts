import { z } from 'zod';
import type { ApprovalSettlement } from './definition.ts';
import { APPROVAL_STATUSES, type ApprovalStatus, DECISIONS, isApprovalEnded } from './status.ts';

/** The names of the events that an approval adds to its stream request's feed. */
const APPROVAL_EVENTS = ['approval-request', 'approval-updated', 'approval-resolved'] as const;
export type ApprovalEventName = (typeof APPROVAL_EVENTS)[number];

/** A change of an approval as the feed stores it: what happened, but never what the person wrote. */
export const ApprovalEvent = z.looseObject({
  type: z.enum(APPROVAL_EVENTS),
  approvalId: z.string(),
  revision: z.int(),
  status: z.enum(APPROVAL_STATUSES),
  decision: z.enum(DECISIONS).optional(),
  /** The deadline, if the commit set one. */
  expiresAt: z.string().optional(),
  surface: z.string().optional(),
});
export type ApprovalEvent = z.infer<typeof ApprovalEvent>;

/** The event of the commit that gave an approval this revision and status. */
export function approvalEventOf(
  approvalId: string,
  revision: number,
  status: ApprovalStatus,
  { decision, surface }: ApprovalSettlement = {},
): ApprovalEvent {
  return {
    type: typeOf(revision, status),
    approvalId,
    revision,
    status,
    ...(decision !== undefined && { decision }),
    ...(surface !== undefined && { surface }),
  };
}

function typeOf(revision: number, status: ApprovalStatus): ApprovalEventName {
  if (isApprovalEnded(status)) return 'approval-resolved';
  return revision === 1 ? 'approval-request' : 'approval-updated';
}

/** Parses an approval event from a feed. Undefined for an event of another type, or of a newer build. */
export function readApprovalEvent(event: { readonly type: string }): ApprovalEvent | undefined {
  // Most events of a feed are text, so their type is checked first.
  if (!(APPROVAL_EVENTS as readonly string[]).includes(event.type)) return undefined;
  return ApprovalEvent.safeParse(event).data;
}
