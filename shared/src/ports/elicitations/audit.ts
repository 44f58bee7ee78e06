/** What the deadline indexes list now. */
export interface PendingReport {
  /** Number of open questions and approvals. */
  readonly open: number;
  /** For how long the deadline of one of them has passed, at most, in ms; 0 when none has. */
  readonly overdueMs: number;
}

/** The result of an index check. */
export interface IndexReport {
  /** Number of open questions and approvals that it met. */
  readonly open: number;
  /** Number of entries that were missing, wrong or obsolete, and that were corrected. */
  readonly repaired: number;
}

/** The result of a cleanup. */
export interface CleanupReport {
  /** Number of keys and entries that were kept beyond their retention, and that were removed or now expire. */
  readonly removed: number;
  /** Number of those that a second pass still found; 0 proves that the cleanup was complete. */
  readonly left: number;
  /** Number of index entries that were missing, wrong or obsolete, and that were corrected. */
  readonly repaired: number;
}

/**
 * Compares the stored data with the rules of the commits, and repairs it. The rows are authoritative. Each repair reads
 * the row in the same atomic step, so audits may run beside all other work, on any number of workers. Both checks
 * proceed in small pages, a bounded number of keys a second, and reject with the signal's reason when aborted.
 */
export interface Audit {
  /** Counts by the deadline indexes, without a look at the rows. Throws `unavailable`. */
  pending(): Promise<PendingReport>;
  /**
   * Reads the deadline indexes and the rows that they list, and nothing else: what is listed is open, does not expire, and
   * is listed in its inbox. Rows that no index lists are found by `cleanup`. The more there are, the faster it reads, so that
   * a check of up to three million rows takes five minutes at most.
   */
  indexCheck(signal?: AbortSignal): Promise<IndexReport>;
  /**
   * Reads every key: open rows are listed, inboxes and deadline indexes list nothing else, and everything expires that
   * ended or is past its retention. Never shortens the life of data still in use.
   */
  cleanup(signal?: AbortSignal): Promise<CleanupReport>;
}

interface ExclusiveWork {
  readonly name: string;
  /** After the work was completed, no worker repeats it for so long, in ms; 0 for no such pause. */
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs `work` unless another worker is running the work of this name, or it was completed a short time ago. Undefined
 * when it was not run. The signal that `work` gets is also aborted when another worker may have taken over.
 */
export type RunExclusively = <T>(
  exclusive: ExclusiveWork,
  work: (signal: AbortSignal) => Promise<T>,
) => Promise<T | undefined>;
