/**
 * How long after a deadline its job fires and waiters expire what they wait for, in ms. The timer of the pod that asked expires the
 * elicitation before that. Without the delay, several processes did the same work.
 */
export const BACKUP_DELAY_MS = 25;

/** The deadline at which a job expires what is overdue in a bucket: the earliest one when it was armed. */
export interface ArmedDeadline {
  readonly bucket: number;
  /** Redis clock in ms. */
  readonly deadline: number;
  /** The elicitation that had this deadline. It may have ended since. */
  readonly elicitationId: string;
  /** Time until the deadline on the Redis clock, in ms. Not positive when it has passed. */
  readonly delayMs: number;
}

/**
 * The jobs that fire at armed deadlines, whichever pod asked. A job may be lost, late, early or doubled: the deadline index
 * and the commit decide, and the sweep adds a lost job again.
 */
export interface DeadlineJobs {
  /**
   * Adds the job of an armed deadline, which fires `BACKUP_DELAY_MS` after it. A job that exists already stays as it is. Rejects
   * when no job can be added.
   */
  add(armed: ArmedDeadline): Promise<void>;
}
