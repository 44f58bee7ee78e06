/** The result of an index check. */
export interface IndexReport {
  /** Number of open elicitations. */
  readonly open: number;
  /** Age of the oldest open elicitation, in ms; 0 when there is none. */
  readonly oldestAgeMs: number;
  /** Number of entries that were missing, wrong or obsolete, and that were corrected. */
  readonly repaired: number;
}

/** The result of a cleanup. */
export interface CleanupReport {
  /** Number of keys and entries that were kept beyond their retention, and that were removed or now expire. */
  readonly removed: number;
  /** Number of those that a second pass still found; 0 proves that the cleanup was complete. */
  readonly left: number;
}

/**
 * Compares the stored data with the rules of the commits, and repairs it. The rows are authoritative. Each repair reads
 * the row in the same atomic step, so audits may run beside all other work, on any number of workers. Both methods
 * proceed in small pages, and reject with the signal's reason when aborted.
 */
export interface Audit {
  /** Corrects inboxes, deadlines and expiry times by the rows: open rows are listed, and ended rows expire. */
  indexCheck(signal?: AbortSignal): Promise<IndexReport>;
  /** Makes everything expire that ended or is past its retention. Never shortens the life of data still in use. */
  cleanup(signal?: AbortSignal): Promise<CleanupReport>;
}
