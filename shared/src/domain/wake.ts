import { z } from 'zod';
import { Settlement } from './settlement.ts';
import { STATUSES } from './status.ts';

/**
 * A hint that something changed: position in the feed, revision and status, and, for waiters only, the answer when
 * it is small. The row is the truth; a reader that finds a wake missing or old reads the row.
 */
export const Wake = z.object({
  /** `<epoch>-<seq>` of the feed entry written in the same commit. */
  position: z.string(),
  elicitationId: z.string(),
  revision: z.int(),
  status: z.enum(STATUSES),
  /** Redis clock in ms at the commit. */
  at: z.number(),
  /** What a waiter needs to go on without reading the row; absent when it was too large to ride along. */
  settlement: Settlement.optional(),
});
export type Wake = z.infer<typeof Wake>;

/** Above this size a settlement does not ride along with its wake. */
export const WAKE_BYTES_MAX = 8 * 1024;
