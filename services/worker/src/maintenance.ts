/** Runs the periodic work, each round on one worker. What a round does is in `shared/src`. */

import { startRounds } from '@parley/shared/async/rounds';
import type { Engine } from '@parley/shared/elicitations/engine';
import type {
  Audit,
  CleanupReport,
  IndexReport,
  RunExclusively,
} from '@parley/shared/ports/elicitations/audit';
import type { Claims } from '@parley/shared/ports/elicitations/claims';
import { inTurn } from '@parley/shared/records/in-turn';
import type { OfferOrphansInput } from '@parley/shared/runs/offer-orphans';
import type { Activity } from './activity.ts';

// Only every fifteenth round searches for turns that are missing in the queue. The search reads every running turn, and such
// turns are rare.
const FULL_ROUND = 15;
// The longest interval at which workers look for a due cleanup. A cleanup may take hours; if its worker stops, another one
// begins it again within this time.
const CLEANUP_TRIES_MS = 300_000;

/** The kinds of periodic work. One worker does each round. */
const MAINTENANCE = ['sweep', 'take-over', 'index-check', 'cleanup', 'canary'] as const;
type Maintenance = (typeof MAINTENANCE)[number];

export interface MaintenanceDeps {
  /** The unique name of this worker. */
  readonly holder: string;
  /** Pause between two rounds of each kind, in ms. The same on every worker. */
  readonly everyMs: Readonly<Record<Maintenance, number>>;
  readonly engine: Pick<Engine, 'sweepInTurn'>;
  readonly claims: Pick<Claims, 'claim'>;
  readonly audit: Audit;
  /** Runs an audit on one worker at a time. */
  readonly exclusively: RunExclusively;
  /** Offers orphaned turns to the remaining pods. */
  readonly offerOrphans: (input: OfferOrphansInput) => Promise<number>;
  /** Adds the canary job, which shows that jobs run. */
  readonly sendCanary: () => Promise<void>;
  /** `startedAt`: when the check began, by `performance.now()`. */
  readonly onIndexReport: (report: IndexReport, startedAt: number) => void;
  readonly onCleanupReport: (report: CleanupReport) => void;
  readonly onError: (error: unknown, work: Maintenance) => void;
  /** Records current and finished work. */
  readonly activity: Pick<Activity, 'during' | 'ended'>;
}

/**
 * Starts the maintenance, which any number of workers may do. The returned function ends it, and cuts a current round short.
 */
export function startMaintenance(deps: MaintenanceDeps): () => Promise<void> {
  const rounds = createRounds(deps);
  const ends = MAINTENANCE.map((work) =>
    startRounds({
      round: rounds[work],
      everyMs: work === 'cleanup' ? Math.min(deps.everyMs.cleanup, CLEANUP_TRIES_MS) : deps.everyMs[work],
      onError: (error) => deps.onError(error, work),
    }),
  );
  return async () => {
    await Promise.all(ends.map((end) => end()));
  };
}

type MaintenanceRound = (signal: AbortSignal) => Promise<unknown>;

function createRounds(deps: MaintenanceDeps): Record<Maintenance, MaintenanceRound> {
  const { holder, everyMs, engine, claims, audit, exclusively, activity } = deps;
  const turnOf = (work: Maintenance) => ({ holder, everyMs: everyMs[work] });
  /** Records a round that this worker does. */
  async function noted<Result>(work: Maintenance, round: () => Promise<Result>): Promise<Result> {
    const result = await activity.during(work, round);
    activity.ended(work);
    return result;
  }
  let rounds = 0;
  return {
    async sweep(signal) {
      const swept = await engine.sweepInTurn(turnOf('sweep'), signal);
      if (swept !== undefined) activity.ended('sweep');
    },
    'take-over': (signal) =>
      inTurn(claims, 'take-over', turnOf('take-over'), () => {
        rounds += 1;
        const evenIfNoneLapsed = rounds % FULL_ROUND === 0;
        return noted('take-over', () => deps.offerOrphans({ evenIfNoneLapsed, signal }));
      }),
    async 'index-check'(signal) {
      const startedAt = performance.now();
      // For this long after the end of the work, no worker begins it again.
      const reservedMs = Math.ceil(everyMs['index-check'] / 2);
      const report = await exclusively({ name: 'index-check', everyMs: reservedMs, signal }, (held) =>
        noted('index-check', () => audit.indexCheck(held)),
      );
      if (report !== undefined) deps.onIndexReport(report, startedAt);
    },
    async cleanup(signal) {
      const report = await exclusively({ name: 'cleanup', everyMs: everyMs.cleanup, signal }, (held) =>
        noted('cleanup', () => audit.cleanup(held)),
      );
      if (report !== undefined) deps.onCleanupReport(report);
    },
    canary: () => inTurn(claims, 'canary', turnOf('canary'), () => noted('canary', deps.sendCanary)),
  };
}
