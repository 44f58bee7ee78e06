/** Statuses and decisions of an approval. The file imports nothing, which keeps browser bundles small. */

/** Every status of an approval. All but the first are terminal. */
export const APPROVAL_STATUSES = ['pending', 'approved', 'edited', 'denied', 'expired', 'withdrawn'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
export type EndedApprovalStatus = Exclude<ApprovalStatus, 'pending'>;

/** What a person can decide: run the call as it is, run it with other arguments, or do not run it. */
export const DECISIONS = ['approve', 'edit', 'deny'] as const;
export type ApprovalDecision = (typeof DECISIONS)[number];

/** True for a status that never changes again, also for one that only a newer build knows. */
export function isApprovalEnded(status: ApprovalStatus): status is EndedApprovalStatus {
  return status !== 'pending';
}

/** True when the call may be made. */
export function isGranted(status: ApprovalStatus): status is 'approved' | 'edited' {
  return status === 'approved' || status === 'edited';
}
