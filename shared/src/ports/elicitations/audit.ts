/** The present content of the deadline indexes. */
export interface PendingReport {
  /** Number of open questions and approvals. */
  readonly open: number;
  /** How long the most overdue record has been overdue, in ms; 0 when none is. */
  readonly overdueMs: number;
}

/** The result of an index check. */
export interface IndexReport {
  /** The number of open questions and approvals that were checked. */
  readonly open: number;
  /** The number of corrected entries, which were missing, wrong or obsolete. */
  readonly repaired: number;
}

/** The result of a cleanup. */
export interface CleanupReport {
  /** The number of keys and entries that outlived their retention; they were removed, or now expire. */
  readonly removed: number;
  /** How many such keys and entries a second pass found; 0 proves that the cleanup was complete. */
  readonly left: number;
  /** The number of corrected index entries, which were missing, wrong or obsolete. */
  readonly repaired: number;
}

/**
 * Compares the stored data with the rules of the commits, and repairs it. The rows are authoritative. Each repair reads the row
 * in the same atomic step, so audits may run in parallel to all other work, on any number of workers. `indexCheck` and
 * `cleanup` work in small pages with a limited number of keys per second, and reject with the signal's reason when aborted.
 */
export interface Audit {
  /** Counts the entries of the deadline indexes without reading rows. Throws `unavailable`. */
  pending(): Promise<PendingReport>;
  /**
   * Checks the deadline indexes and the rows that they list: each listed row must be open, must not expire, and must be in its
   * inbox. Rows missing from the indexes are found by `cleanup`. The check reads faster the more entries there are, so that up
   * to three million rows take at most five minutes.
   */
  indexCheck(signal?: AbortSignal): Promise<IndexReport>;
  /**
   * Reads every key. Afterwards open rows are listed, inboxes and deadline indexes list nothing else, and everything that has
   * ended or outlived its retention expires. Never shortens the life of data in use.
   */
  cleanup(signal?: AbortSignal): Promise<CleanupReport>;
}

interface ExclusiveWork {
  readonly name: string;
  /** After a completed run, no worker repeats the work for this time, in ms; 0 for no pause. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` unless another worker is running work of this name, or completed it within `everyMs`; then the result is
 * undefined. The signal passed to `work` is also aborted when another worker may have taken over.
 */
export type RunExclusively = <T>(
  exclusive: ExclusiveWork,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T | undefined>;
