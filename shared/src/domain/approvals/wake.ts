import { ApprovalSettlement } from '@parley/core/domain/approvals/definition';
import type { ApprovalStatus } from '@parley/core/domain/approvals/status';
import { z } from 'zod';
import { CommitMark } from '../commit-mark.ts';

/** A hint that an approval changed. The row is authoritative. */
export const ApprovalWake = CommitMark.extend({
  approvalId: z.string(),
  revision: z.int(),
  /** Also one that only a newer build knows. */
  status: z.string().transform((status) => status as ApprovalStatus),
  /** With it a waiter can continue without reading the row. Absent when it was larger than `WAKE_BYTES_MAX`. */
  settlement: ApprovalSettlement.optional(),
});
export type ApprovalWake = z.infer<typeof ApprovalWake>;
