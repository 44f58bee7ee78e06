import { z } from 'zod';

/** The mark that every published commit carries. */
export const CommitMark = z.object({
  /** `<epoch>-<seq>` of the last feed entry that the commit appended. */
  position: z.string(),
  /** Redis clock in ms at the commit. */
  at: z.number(),
});

/** A larger settlement is not included in its wake. In bytes. */
export const WAKE_BYTES_MAX = 8 * 1024;
