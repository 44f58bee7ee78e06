/**
 * How a pod becomes the owner of a queued run, and when it must not. The work on the run, and runs that this pod begins, are in
 * `pod-runs.ts`.
 */

import { ParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import { retryWhileUnavailable } from '../async/retry-while-unavailable.ts';
import { type Run, UNOWNED } from '../domain/runs/run.ts';
import type { Engine } from '../elicitations/engine.ts';
import type { Runs } from '../ports/runs/runs.ts';
import { endOrphan } from './end-orphan.ts';
import { OWNERS_DIED } from './interruption.ts';
import type { LocalRuns } from './local-runs.ts';
import type { Recovery } from './recover.ts';

// Some runs kill their pods so late that no death counts as quick, so this many take-overs weigh as much as one quick death.
const TAKE_OVERS_PER_DEATH = 4;

interface ClaimDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>;
  readonly runs: Runs;
  readonly local: Pick<LocalRuns, 'isReserved' | 'reserve'>;
  readonly recovery: Pick<Recovery, 'isOrphaned'>;
  /** The owner name of this pod. */
  readonly owner: string;
  /** False for an agent that this pod's configuration lacks. */
  readonly knowsAgent: (agent: string) => boolean;
  readonly deferred: DeferredRuns;
  /** After this many quick deaths of owners, a run is ended, because it may be what kills them. */
  readonly deathsMax: number;
  readonly onFault: (error: unknown, run: StreamRef) => void;
}

/** A run that this pod has just claimed. */
export interface ClaimedRun {
  readonly run: Run;
  readonly term: number;
}

/**
 * Claims a run from the queue and starts to work on it; does nothing when another pod owns the run, or it has ended. It is safe
 * to call this twice for the same run. Throws `unavailable`; the queue then delivers the run again. Throws `pod_busy` for a run
 * of an unknown agent, which a pod with another configuration may know. After a while, such a run is claimed anyway, and its
 * work fails.
 */
export async function claimRun(
  deps: ClaimDeps,
  stream: StreamRef,
  onClaimed: (claimed: ClaimedRun) => void,
): Promise<void> {
  const { runs, local, recovery } = deps;
  const standing = await runs.standing(stream);
  if (standing?.status !== 'running' || !(await recovery.isOrphaned(stream, standing))) return;
  if (local.isReserved(stream.streamRequestId)) return;
  if (deps.deferred.isDeferred(stream.streamRequestId)) throw agentUnknown();
  const release = local.reserve(stream);
  try {
    const claimed = await takeOver(deps, stream, standing.term);
    if (claimed === undefined) return;
    const { deaths, takeOvers } = claimed.run;
    if (deaths >= deps.deathsMax || takeOvers >= TAKE_OVERS_PER_DEATH * deps.deathsMax) {
      deps.onFault(new Error(`${takeOvers} owners of the turn died, ${deaths} of them soon.`), stream);
      return await endOrphan(deps, stream, { owner: deps.owner, term: claimed.term }, OWNERS_DIED);
    }
    if (!deps.knowsAgent(claimed.run.agent) && deps.deferred.defer(stream.streamRequestId)) {
      await retryWhileUnavailable(() => runs.takeOver(stream, claimed.term, UNOWNED));
      throw agentUnknown();
    }
    onClaimed(claimed);
  } finally {
    release();
  }
}

function agentUnknown(): ParleyError {
  return new ParleyError('pod_busy', 'This pod does not know the agent of the run; another one takes it.');
}

async function takeOver(
  { runs, owner }: ClaimDeps,
  stream: StreamRef,
  seenTerm: number,
): Promise<ClaimedRun | undefined> {
  const term = await retryWhileUnavailable(() => runs.takeOver(stream, seenTerm, owner));
  if (term === undefined) return undefined;
  try {
    const { run } = await retryWhileUnavailable(() => runs.read(stream));
    return run && { run, term };
  } catch (error) {
    // The run is released again, because other pods do not recover the run of a live owner.
    await retryWhileUnavailable(() => runs.takeOver(stream, term, UNOWNED));
    throw error;
  }
}

/** Runs that this pod leaves to other pods for some time. */
interface DeferredRuns {
  /** True while the run is left to other pods. */
  isDeferred(streamRequestId: string): boolean;
  /**
   * Leaves the run to other pods and returns true. Returns false if that was done before; then no other pod has taken the run.
   */
  defer(streamRequestId: string): boolean;
}

// This is longer than the queue takes to deliver a run again.
const KEPT_MS = 600_000;

export function createDeferredRuns(patienceMs: number): DeferredRuns {
  const since = new Map<string, number>();

  function forgetOld(): void {
    for (const [id, at] of since) if (performance.now() - at > patienceMs + KEPT_MS) since.delete(id);
  }

  return {
    isDeferred(streamRequestId) {
      const at = since.get(streamRequestId);
      return at !== undefined && performance.now() - at < patienceMs;
    },
    defer(streamRequestId) {
      forgetOld();
      if (since.has(streamRequestId)) return false;
      since.set(streamRequestId, performance.now());
      return true;
    },
  };
}
