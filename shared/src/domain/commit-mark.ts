import { z } from 'zod';

/** Position and time of a commit, part of every wake. */
export const CommitMark = z.object({
  /** `<epoch>-<seq>` of the last feed entry that the commit appended. */
  position: z.string(),
  /** Redis clock in ms at the commit. */
  at: z.number(),
});

/** The maximum size in bytes of a settlement that is included in its wake. */
export const WAKE_BYTES_MAX = 8 * 1024;
