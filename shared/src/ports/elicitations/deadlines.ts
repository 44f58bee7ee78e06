/**
 * How long after a deadline the backup acts: its job fires, and waiters expire the record themselves, in ms. The timer of the
 * asking pod normally expires the record before that. Without the delay, several processes would do the same work.
 */
export const BACKUP_DELAY_MS = 25;

/** The deadline at which a job will expire what is overdue in a bucket: the earliest one at the time of arming. */
export interface ArmedDeadline {
  readonly bucket: number;
  /** The deadline in ms on the Redis clock. */
  readonly deadline: number;
  /** An elicitation with this deadline. It may have ended since then. */
  readonly elicitationId: string;
  /** The time until the deadline on the Redis clock, in ms; zero or negative when it has passed. */
  readonly delayMs: number;
}

/**
 * The jobs that fire at armed deadlines, whichever pod asked. A job may be lost, late, early or doubled: the deadline index and
 * the commit decide, and the sweep replaces a lost job.
 */
export interface DeadlineJobs {
  /**
   * Adds the job of an armed deadline; it fires `BACKUP_DELAY_MS` after the deadline. An existing job is not changed. Rejects
   * when no job can be added.
   */
  add(armed: ArmedDeadline): Promise<void>;
}
