/** The jobs that run periodically, each round on one free worker. */
export const MAINTENANCE_JOBS = ['sweep', 'outbox', 'take-over', 'index-check', 'cleanup', 'canary'] as const;
export type MaintenanceJob = (typeof MAINTENANCE_JOBS)[number];

/** Every kind of job. There is one `expire` job per elicitation; its job id is the elicitation's id. */
export type JobName = 'expire' | MaintenanceJob;

export interface JobCall {
  /** Id of the job. For an `expire` job it is the elicitation's id. */
  readonly id: string;
  /** Aborted when the worker stops. Long work then ends early, and the next round continues it. */
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
