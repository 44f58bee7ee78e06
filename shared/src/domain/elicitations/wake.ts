import type { Status } from '@parley/core/domain/elicitations/status';
import { z } from 'zod';
import { ApprovalWake } from '../approvals/wake.ts';
import { CommitMark } from '../commit-mark.ts';
import { Settlement } from './settlement.ts';

/**
 * A hint that an elicitation changed: its position in the feed, its revision and its status. For waiters only, it also
 * contains the answer when that is small. The row is authoritative: a reader that misses a wake, or gets an outdated
 * one, reads the row.
 */
export const ElicitationWake = CommitMark.extend({
  elicitationId: z.string(),
  revision: z.int(),
  /** Also one that only a newer build knows. */
  status: z.string().transform((status) => status as Status),
  /** With it a waiter can continue without reading the row. Absent when it was larger than `WAKE_BYTES_MAX`. */
  settlement: Settlement.optional(),
});
export type ElicitationWake = z.infer<typeof ElicitationWake>;

/** Text of a turn that its feed does not hold yet. */
export const LiveText = z.object({
  /** The text block that it belongs to. */
  block: z.string(),
  /** How many characters of the feed's next event come before it. */
  offset: z.int().nonnegative(),
  text: z.string(),
});
export type LiveText = z.infer<typeof LiveText>;

/**
 * A hint that a turn appended to its feed. With `live` it appended nothing: the text follows the event at `position`, the
 * last one that the turn appended, and the feed will have it as the beginning of its next event.
 */
export const TurnWake = CommitMark.extend({ turn: z.literal(true), live: LiveText.optional() });
export type TurnWake = z.infer<typeof TurnWake>;

/** A message on the channel of a stream request. */
export const Wake = z.union([ElicitationWake, TurnWake, ApprovalWake]);
export type Wake = z.infer<typeof Wake>;

/** A message on the channel of an owner's inbox: a change of a record of any family. */
export const InboxWake = z.union([ElicitationWake, ApprovalWake]);
export type InboxWake = z.infer<typeof InboxWake>;
