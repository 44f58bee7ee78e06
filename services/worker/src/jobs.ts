import type { Engine } from '@parley/shared/elicitations/engine';
import type { Audit, CleanupReport, IndexReport } from '@parley/shared/ports/elicitations/audit';
import type { JobCall, Processor, Processors } from '@parley/shared/ports/jobs';
import type { OfferOrphansInput } from '@parley/shared/runs/offer-orphans';

// What was lost from the queue is rare, and costs a look at every running turn.
const FULL_ROUND = 15;

export interface JobsDeps {
  readonly engine: Pick<Engine, 'expire' | 'sweep'>;
  /** Does what has still to happen after elicitations ended. */
  readonly dispatch: (signal: AbortSignal) => Promise<unknown>;
  readonly audit: Audit;
  /** Offers the turns of dead pods to the living ones. */
  readonly offerOrphans: (input: OfferOrphansInput) => Promise<number>;
  /** Leaves the sign of life of the timers. */
  readonly beat: () => Promise<void>;
  readonly onIndexReport: (report: IndexReport) => void;
  readonly onCleanupReport: (report: CleanupReport) => void;
}

/** What the worker does: each kind of job is one call. */
export function createJobs(deps: JobsDeps): Processors {
  const { engine, audit, beat, onIndexReport, onCleanupReport } = deps;
  let rounds = 0;
  return {
    async expire({ id }) {
      const result = await engine.expire(id);
      return result.type === 'early' ? { retryInMs: result.remainingMs } : undefined;
    },
    sweep: alone(({ signal }) => engine.sweep(signal)),
    outbox: alone(({ signal }) => deps.dispatch(signal)),
    'take-over': alone(async ({ signal }) => {
      rounds += 1;
      await deps.offerOrphans({ evenIfNoneLapsed: rounds % FULL_ROUND === 0, signal });
    }),
    'index-check': alone(async ({ signal }) => onIndexReport(await audit.indexCheck(signal))),
    cleanup: alone(async ({ signal }) => onCleanupReport(await audit.cleanup(signal))),
    canary: alone(beat),
  };
}

/** A round that is still going on when the next one comes does the work of both. */
function alone(round: (call: JobCall) => Promise<unknown>): Processor {
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
