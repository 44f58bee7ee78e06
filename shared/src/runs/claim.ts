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

// A run may kill its pods so late that none of their deaths counts as soon.
const TAKE_OVERS_PER_DEATH = 4;

interface ClaimDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>;
  readonly runs: Runs;
  readonly local: Pick<LocalRuns, 'isReserved' | 'reserve'>;
  readonly recovery: Pick<Recovery, 'isOrphaned'>;
  /** This pod as an owner of runs. */
  readonly owner: string;
  /** False for an agent that this pod's configuration does not have. */
  readonly knowsAgent: (agent: string) => boolean;
  readonly deferred: DeferredRuns;
  /** Owners that may die soon after they got a run: it is ended then, for it may be what kills them. */
  readonly deathsMax: number;
  readonly onFault: (error: unknown, run: StreamRef) => void;
}

/** A run that this pod has just become the owner of. */
export interface ClaimedRun {
  readonly run: Run;
  readonly term: number;
}

/**
 * Claims a run from the queue and starts to work on it; does nothing when another pod owns it, or it has ended. Safe to
 * call twice for the same run. Throws `unavailable`: then the queue delivers the run again. Throws `pod_busy` for a run of an
 * unknown agent, which a pod with another configuration may know; after a while, the run is claimed all the same, and its
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
    // Other pods would not recover a run of a living owner.
    await retryWhileUnavailable(() => runs.takeOver(stream, term, UNOWNED));
    throw error;
  }
}

/** Runs that this pod leaves to other pods for a while. */
interface DeferredRuns {
  /** True while the run is left to other pods. */
  isDeferred(streamRequestId: string): boolean;
  /** Leaves the run to other pods, unless that was done before: then no other pod has taken it, and it returns false. */
  defer(streamRequestId: string): boolean;
}

// Longer than the queue takes to deliver a run again.
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
