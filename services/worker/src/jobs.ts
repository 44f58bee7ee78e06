import type { Engine } from '@parley/shared/elicitations/engine';
import type {
  Audit,
  CleanupReport,
  IndexReport,
  RunExclusively,
} from '@parley/shared/ports/elicitations/audit';
import { BACKUP_DELAY_MS } from '@parley/shared/ports/elicitations/deadlines';
import { DueJobData, type JobCall, type Processor, type Processors } from '@parley/shared/ports/jobs';
import type { OfferOrphansInput } from '@parley/shared/runs/offer-orphans';

// Finding turns that are missing in the queue requires reading every running turn, and they are rare.
const FULL_ROUND = 15;
// How many elicitations one job expires at a time.
const EXPIRE_BATCH = 100;

export interface JobsDeps {
  readonly engine: Pick<Engine, 'expire' | 'expireDue' | 'sweep'>;
  readonly audit: Audit;
  /** Runs an audit on one worker at a time. */
  readonly exclusively: RunExclusively;
  /** Pause between two cleanups, in ms. */
  readonly cleanupEveryMs: number;
  /** Offers orphaned turns to the remaining pods. */
  readonly offerOrphans: (input: OfferOrphansInput) => Promise<number>;
  /** Writes the heartbeat of the timers. */
  readonly beat: () => Promise<void>;
  /** `startedAt`: when the check began, on `performance.now()`. */
  readonly onIndexReport: (report: IndexReport, startedAt: number) => void;
  readonly onCleanupReport: (report: CleanupReport) => void;
}

/** The processors of the worker's jobs, one per kind. */
export function createJobs(deps: JobsDeps): Processors {
  const { engine, audit, exclusively, beat } = deps;
  let rounds = 0;
  return {
    async 'expire-due'({ data, signal }) {
      const { bucket, deadline } = DueJobData.parse(data);
      const next = await engine.expireDue({
        bucket,
        batch: EXPIRE_BATCH,
        overdueMs: BACKUP_DELAY_MS,
        signal,
      });
      // This job came too early by the Redis clock, or was stopped. Its id is in use, so that no other job can be added.
      return next?.deadline === deadline
        ? { retryInMs: Math.max(0, next.delayMs + BACKUP_DELAY_MS) }
        : undefined;
    },
    async expire({ id }) {
      const result = await engine.expire(id);
      return result.type === 'early' ? { retryInMs: result.remainingMs } : undefined;
    },
    sweep: withoutOverlap(({ signal }) => engine.sweep(signal)),
    'take-over': withoutOverlap(async ({ signal }) => {
      rounds += 1;
      await deps.offerOrphans({ evenIfNoneLapsed: rounds % FULL_ROUND === 0, signal });
    }),
    'index-check': withoutOverlap(async ({ signal }) => {
      const startedAt = performance.now();
      const report = await exclusively({ name: 'index-check', everyMs: 0, signal }, audit.indexCheck);
      if (report !== undefined) deps.onIndexReport(report, startedAt);
    }),
    cleanup: withoutOverlap(async ({ signal }) => {
      const everyMs = deps.cleanupEveryMs;
      const report = await exclusively({ name: 'cleanup', everyMs, signal }, audit.cleanup);
      if (report !== undefined) deps.onCleanupReport(report);
    }),
    canary: withoutOverlap(beat),
  };
}

/** Skips a round while the previous one is still running. */
function withoutOverlap(round: (call: JobCall) => Promise<unknown>): Processor {
  let running = false;
  return async (call) => {
    if (running) return undefined;
    running = true;
    try {
      await round(call);
      return undefined;
    } finally {
      running = false;
    }
  };
}
