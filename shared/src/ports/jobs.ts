/** The jobs that come round again and again, on whichever worker is free. */
export const MAINTENANCE_JOBS = ['sweep', 'outbox', 'take-over', 'index-check', 'cleanup', 'canary'] as const;
export type MaintenanceJob = (typeof MAINTENANCE_JOBS)[number];

/** Every kind of job there is. `expire` is one per elicitation and carries its id as the job's. */
export type JobName = 'expire' | MaintenanceJob;

export interface JobCall {
  /** Id of the job; of an `expire` job, the elicitation's. */
  readonly id: string;
  /** Aborted when the worker stops: long work ends early, the next round does the rest. */
  readonly signal: AbortSignal;
}

/** The job came too early: it is to run again after `retryInMs`. */
export interface Again {
  readonly retryInMs: number;
}

/** Does one job. Must be harmless when run twice, or at the same time as itself. Rejects to be tried again. */
export type Processor = (call: JobCall) => Promise<Again | undefined>;

/** What each kind of job does: a total map, so that no job is without a processor. */
export type Processors = Readonly<Record<JobName, Processor>>;
