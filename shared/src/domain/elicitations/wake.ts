import type { Status } from '@parley/core/domain/elicitations/status';
import { z } from 'zod';
import { ApprovalWake } from '../approvals/wake.ts';
import { CommitMark } from '../commit-mark.ts';
import { Settlement } from './settlement.ts';

/**
 * A hint that an elicitation changed, with its feed position, revision and status. For waiters only, it also contains a small
 * answer. The row is authoritative: a reader that misses a wake or gets an outdated one reads the row.
 */
export const ElicitationWake = CommitMark.extend({
  elicitationId: z.string(),
  revision: z.int(),
  /** The status may also be one that only a newer build knows. */
  status: z.string().transform((status) => status as Status),
  /** The settlement lets a waiter continue without reading the row. Absent when it was larger than `WAKE_BYTES_MAX`. */
  settlement: Settlement.optional(),
});
export type ElicitationWake = z.infer<typeof ElicitationWake>;

/** Text of a turn that is not in its feed yet. */
export const LiveText = z.object({
  /** The id of its text block. */
  block: z.string(),
  /** The number of characters that precede it in the feed's next event. */
  offset: z.int().nonnegative(),
  text: z.string(),
});
export type LiveText = z.infer<typeof LiveText>;

/**
 * A hint that a turn appended events to its feed. With `live`, nothing was appended: the text follows the turn's last event,
 * which is at `position`, and will be the beginning of the feed's next event.
 */
export const TurnWake = CommitMark.extend({ turn: z.literal(true), live: LiveText.optional() });
export type TurnWake = z.infer<typeof TurnWake>;

/** A message on the channel of a stream request. */
export const Wake = z.union([ElicitationWake, TurnWake, ApprovalWake]);
export type Wake = z.infer<typeof Wake>;

/** A message on the channel of an owner's inbox: a change of a record of any family. */
export const InboxWake = z.union([ElicitationWake, ApprovalWake]);
export type InboxWake = z.infer<typeof InboxWake>;
