import { BUCKET_COUNT } from '@parley/core/domain/ids';
import { z } from 'zod';

/**
 * Every kind of job. `expire-due` expires what is overdue in a bucket; one is waiting for each bucket's armed deadline.
 * `canary` shows that jobs run. Older builds add an `expire` job for each elicitation, with its id.
 */
export type JobName = 'expire-due' | 'expire' | 'canary';

/** What an `expire-due` job is added with: its armed deadline, and the elicitation that had it. */
export const DueJobData = z.object({
  bucket: z.int().min(0).lt(BUCKET_COUNT),
  /** Redis clock in ms. */
  deadline: z.number(),
  elicitationId: z.string(),
});
export type DueJobData = z.infer<typeof DueJobData>;

export interface JobCall {
  /** Id of the job. For an `expire` job it is the elicitation's id. */
  readonly id: string;
  /** What the job was added with. A job may come from another build, so its processor checks it. */
  readonly data: unknown;
  /** Aborted when the worker stops. Long work then ends early, and another worker continues it. */
  readonly signal: AbortSignal;
}

/** The job ran too early. It runs again after `retryInMs`. */
export interface Again {
  readonly retryInMs: number;
}

/** Executes one job. Must be harmless when it runs twice, or concurrently with itself. Rejects to be retried. */
export type Processor = (call: JobCall) => Promise<Again | undefined>;

/** The processor of every kind of job. */
export type Processors = Readonly<Record<JobName, Processor>>;
