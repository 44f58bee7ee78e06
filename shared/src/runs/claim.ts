import type { StreamRef } from '../domain/ids.ts';
import { type Run, UNOWNED } from '../domain/runs/run.ts';
import type { Engine } from '../elicitations/engine.ts';
import { retryWhileUnavailable } from '../elicitations/retry-while-unavailable.ts';
import type { Runs } from '../ports/runs/runs.ts';
import { endOrphan } from './end-orphan.ts';
import type { LocalRuns } from './local-runs.ts';
import type { Recovery } from './recover.ts';

// Bounds the damage of a run that crashes every pod that continues it.
const TAKEOVERS_MAX = 100;

export interface ClaimDeps {
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>;
  readonly runs: Runs;
  readonly local: Pick<LocalRuns, 'isReserved' | 'reserve'>;
  readonly recovery: Pick<Recovery, 'isOrphaned'>;
  /** This pod as an owner of runs. */
  readonly owner: string;
}

/** A run that this pod has just become the owner of. */
export interface ClaimedRun {
  readonly run: Run;
  readonly term: number;
}

/**
 * Claims a run from the queue and starts to work on it; does nothing when another pod owns it, or it has ended. Safe to
 * call twice for the same run. Throws `unavailable`: then the queue delivers the run again.
 */
export async function claimRun(
  deps: ClaimDeps,
  stream: StreamRef,
  onClaimed: (claimed: ClaimedRun) => void,
): Promise<void> {
  const { runs, local, recovery } = deps;
  const standing = await runs.standing(stream);
  if (standing?.status !== 'running' || !(await recovery.isOrphaned(stream, standing))) return;
  if (standing.takeoverCount > TAKEOVERS_MAX) return endOrphan(deps, stream, standing);
  if (local.isReserved(stream.streamRequestId)) return;
  const release = local.reserve(stream);
  try {
    const claimed = await takeOver(deps, stream, standing.term);
    if (claimed !== undefined) onClaimed(claimed);
  } finally {
    release();
  }
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
