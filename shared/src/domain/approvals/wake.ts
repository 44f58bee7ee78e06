import { ApprovalSettlement } from '@parley/core/domain/approvals/definition';
import type { ApprovalStatus } from '@parley/core/domain/approvals/status';
import { z } from 'zod';
import { CommitMark } from '../commit-mark.ts';

/** A hint that an approval changed. The row is authoritative. */
export const ApprovalWake = CommitMark.extend({
  approvalId: z.string(),
  revision: z.int(),
  /** The status may also be one that only a newer build knows. */
  status: z.string().transform((status) => status as ApprovalStatus),
  /** The settlement lets a waiter continue without reading the row. Absent when it was larger than `WAKE_BYTES_MAX`. */
  settlement: ApprovalSettlement.optional(),
});
export type ApprovalWake = z.infer<typeof ApprovalWake>;
