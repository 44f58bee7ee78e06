import { z } from 'zod';
import { Settlement } from './settlement.ts';
import { STATUSES } from './status.ts';

const Told = z.object({
  /** `<epoch>-<seq>` of the feed entry written last in the same commit. */
  position: z.string(),
  /** Redis clock in ms at the commit. */
  at: z.number(),
});

/**
 * A hint that an elicitation changed: position in the feed, revision and status, and, for waiters only, the answer
 * when it is small. The row is the truth; a reader that finds a wake missing or old reads the row.
 */
export const ElicitationWake = Told.extend({
  elicitationId: z.string(),
  revision: z.int(),
  status: z.enum(STATUSES),
  /** What a waiter needs to go on without reading the row; absent when it was too large to ride along. */
  settlement: Settlement.optional(),
});
export type ElicitationWake = z.infer<typeof ElicitationWake>;

/** A hint that a turn wrote to its feed. */
export const TurnWake = Told.extend({ turn: z.literal(true) });
export type TurnWake = z.infer<typeof TurnWake>;

/** What goes out on the channel of a stream request. */
export const Wake = z.union([ElicitationWake, TurnWake]);
export type Wake = z.infer<typeof Wake>;

/** Above this size a settlement does not ride along with its wake. */
export const WAKE_BYTES_MAX = 8 * 1024;
