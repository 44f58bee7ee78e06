/** What a check of the indexes found. */
export interface IndexReport {
  /** Open elicitations, in all. */
  readonly open: number;
  /** How long the oldest of them has been open, in ms; 0 when none is. */
  readonly oldestAgeMs: number;
  /** Entries that were missing, wrong or left over, and are now right. */
  readonly repaired: number;
}

/** What a clean-up found. */
export interface CleanupReport {
  /** Things that would have stayed beyond their retention, and now leave or are gone. */
  readonly removed: number;
  /** Such things that a second look still found; 0 is the proof that nothing is left. */
  readonly left: number;
}

/**
 * Holds what is stored against the rules of the commits. The rows are the truth; each repair decides on the row as it
 * stands in the same atomic step, so that an audit and any other work may go on at once, on any number of workers.
 * Both go in small pages and stop with the signal's reason when aborted.
 */
export interface Audit {
  /** Makes inboxes, deadlines and the lives of rows agree with the rows: open ones listed, ended ones leaving. */
  indexCheck(signal?: AbortSignal): Promise<IndexReport>;
  /** Sees to it that whatever ended or has had its time leaves by itself. Never shortens what is still wanted. */
  cleanup(signal?: AbortSignal): Promise<CleanupReport>;
}
