import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { z } from 'zod';

/**
 * Every kind of job. `expire-due` expires what is overdue in a bucket; one such job waits for each bucket's armed deadline.
 * `canary` shows that jobs run. Older builds add an `expire` job with the id of each elicitation.
 */
export type JobName = 'expire-due' | 'expire' | 'canary';

/** The data of an `expire-due` job: its armed deadline, and an elicitation with that deadline. */
export const DueJobData = z.object({
  bucket: z.int().min(0).lt(BUCKET_COUNT),
  /** The deadline in ms on the Redis clock. */
  deadline: z.number(),
  elicitationId: z.string(),
});
export type DueJobData = z.infer<typeof DueJobData>;

export interface JobCall {
  /** The id of the job. For an `expire` job, this is the elicitation's id. */
  readonly id: string;
  /** The data of the job. It may come from another build, so the processor checks it. */
  readonly data: unknown;
  /** Aborted when the worker stops. Long work then ends early, and another worker continues it. */
  readonly signal: AbortSignal;
}

/** The job ran too early. It runs again after `retryInMs`. */
export interface Again {
  readonly retryInMs: number;
}

/** Executes one job. It must be harmless to run it twice, even concurrently. Rejects to be retried. */
export type Processor = (call: JobCall) => Promise<Again | undefined>;

/** The processor of every kind of job. */
export type Processors = Readonly<Record<JobName, Processor>>;
