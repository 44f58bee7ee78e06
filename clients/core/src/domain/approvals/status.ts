/** The statuses and decisions of an approval. This file imports nothing, which keeps browser bundles small. */

/** Every status of an approval. All but the first are terminal. */
export const APPROVAL_STATUSES = ['pending', 'approved', 'edited', 'denied', 'expired', 'withdrawn'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
export type EndedApprovalStatus = Exclude<ApprovalStatus, 'pending'>;

/** What a person can decide: to run the call unchanged, to run it with other arguments, or not to run it. */
export const DECISIONS = ['approve', 'edit', 'deny'] as const;
export type ApprovalDecision = (typeof DECISIONS)[number];

/** True for a terminal status, including one that only a newer build knows. */
export function isApprovalEnded(status: ApprovalStatus): status is EndedApprovalStatus {
  return status !== 'pending';
}

/** True when the call may be made. */
export function isGranted(status: ApprovalStatus): status is 'approved' | 'edited' {
  return status === 'approved' || status === 'edited';
}
