/** Notices on every pod that runs were orphaned or missed a wake, and repairs that. Taking a run over is in `claim.ts`. */

import { isParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import { DETACHED, type RunStanding, UNOWNED } from '../domain/runs/run.ts';
import type { Engine } from '../elicitations/engine.ts';
import type { RunQueue } from '../ports/runs/run-queue.ts';
import type { Runs } from '../ports/runs/runs.ts';
import { endOrphan } from './end-orphan.ts';
import type { CleanupKind, LocalRuns, PendingCleanup, WatchedRun } from './local-runs.ts';
import { resumeIfMissed } from './resume.ts';

const CHECKS_AT_ONCE = 50;
// Redis may still execute a command this long after the pod stopped waiting for its reply.
const LATE_COMMAND_MS = 60_000;
// Normally, the end of a wait resumes a detached run, and a lapsed lease reveals an orphan. This slow check finds what both
// missed.
const RECHECK_MS = 30_000;

interface RecoverDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'isOpen' | 'withdrawRecord'>;
  readonly runs: Runs;
  readonly runQueue: Pick<RunQueue, 'offer'>;
  readonly local: LocalRuns;
  /** The owner name of this pod. */
  readonly owner: string;
  readonly hasLapsed: (owner: string) => Promise<boolean>;
  /** Receives every error, except outages. */
  readonly onFault: (error: unknown, stream: StreamRef) => void;
}

/** Finds orphaned runs and offers them to all pods, so that one of them continues the run. */
export interface Recovery {
  /**
   * True while the run is running on any pod, queued or detached; an orphan is first offered. `seen` is a recent standing of
   * the run. Throws `unavailable`.
   */
  isRunning(stream: StreamRef, seen?: RunStanding): Promise<boolean>;
  /** True when no pod can be working on the run. Throws `unavailable`. */
  isOrphaned(stream: StreamRef, standing: RunStanding): Promise<boolean>;
  /**
   * True for a detached run whose waits are all open. If the end of a wait was missed, the run is resumed. Throws
   * `unavailable`.
   */
  isWaiting(stream: StreamRef): Promise<boolean>;
  /** Cleans up after a run on which this pod stopped working, as soon as possible. */
  cleanUp(stream: StreamRef, term: number, kind: CleanupKind): void;
  /** Retries pending cleanups and checks the watched runs. */
  poll(): Promise<void>;
}

export function createRecovery(deps: RecoverDeps): Recovery {
  const { runs, owner: self, local } = deps;
  let isPolling = false;

  async function isOrphaned({ streamRequestId }: StreamRef, { owner }: RunStanding): Promise<boolean> {
    if (owner === UNOWNED) return true;
    if (owner === DETACHED) return false;
    return owner === self ? !local.isBusy(streamRequestId) : deps.hasLapsed(owner);
  }

  async function offer(stream: StreamRef, { owner, term }: RunStanding): Promise<void> {
    // Other pods do not take a run from this pod while its lease is valid, so it releases the run first.
    const offered = owner === self ? await runs.takeOver(stream, term, UNOWNED) : term;
    if (offered !== undefined) await deps.runQueue.offer(stream, offered);
  }

  async function isRunning(stream: StreamRef, seen?: RunStanding): Promise<boolean> {
    const cleanup = local.cleanupOf(stream.streamRequestId);
    // The caller of this run got an error, so the run must not be found running.
    if (cleanup?.kind === 'end') await runCleanup(cleanup);
    const standing = cleanup === undefined && seen !== undefined ? seen : await runs.standing(stream);
    if (standing?.status !== 'running') return false;
    if (standing.owner === DETACHED) await resumeIfMissed(deps, stream, standing.term);
    else if (await isOrphaned(stream, standing)) await offer(stream, standing);
    return true;
  }

  async function runCleanup({ stream, term, kind, since }: PendingCleanup): Promise<void> {
    if (local.isBusy(stream.streamRequestId)) return;
    const standing = await runs.standing(stream);
    // The `begin` command may still reach Redis.
    if (standing === undefined && performance.now() - since < LATE_COMMAND_MS) return;
    if (standing?.status === 'running' && isUnchanged(standing, term))
      await (kind === 'end' ? endOrphan(deps, stream, standing) : offer(stream, standing));
    local.removeCleanup(stream.streamRequestId);
  }

  /** True as well after an earlier attempt that released the run and then failed. */
  function isUnchanged({ owner, term }: RunStanding, cleanupTerm: number): boolean {
    return owner === self ? term === cleanupTerm : owner === UNOWNED && term === cleanupTerm + 1;
  }

  /**
   * Reads the record of a run that is new, may be orphaned, or was not checked for long; otherwise it reads at most one lease.
   */
  async function check(watched: WatchedRun, hasLapsed: (owner: string) => Promise<boolean>): Promise<void> {
    const { stream, seen } = watched;
    if (local.isBusy(stream.streamRequestId)) return;
    if (seen !== undefined && performance.now() - seen.at < RECHECK_MS) {
      const isOtherPod = seen.owner !== UNOWNED && seen.owner !== DETACHED && seen.owner !== self;
      if (seen.owner === DETACHED || (isOtherPod && !(await hasLapsed(seen.owner)))) return;
    }
    const at = performance.now();
    if (seen !== undefined) watched.seen = { ...seen, at };
    const standing = await runs.standing(stream);
    if (standing?.status !== 'running') return;
    watched.seen = { owner: standing.owner, at };
    if (seen !== undefined) await isRunning(stream);
  }

  /** The next poll retries after an outage. */
  const report = (stream: StreamRef) => (error: unknown) => {
    if (!isParleyError(error, 'unavailable')) deps.onFault(error, stream);
  };

  return {
    isRunning,
    isOrphaned,
    async isWaiting(stream) {
      const standing = await runs.standing(stream);
      return standing?.owner === DETACHED && resumeIfMissed(deps, stream, standing.term);
    },
    cleanUp(stream, term, kind) {
      runCleanup(local.addCleanup(stream, term, kind)).catch(report(stream));
    },
    async poll() {
      if (isPolling) return;
      isPolling = true;
      const checked = new Map<string, Promise<boolean>>();
      const hasLapsed = (owner: string) => {
        const known = checked.get(owner) ?? deps.hasLapsed(owner);
        checked.set(owner, known);
        return known;
      };
      try {
        await inBatches(local.cleanups(), (each) => runCleanup(each).catch(report(each.stream)));
        await inBatches(local.watched(), (each) => check(each, hasLapsed).catch(report(each.stream)));
      } finally {
        isPolling = false;
      }
    },
  };
}

async function inBatches<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += CHECKS_AT_ONCE) {
    await Promise.all(all.slice(from, from + CHECKS_AT_ONCE).map(run));
  }
}
