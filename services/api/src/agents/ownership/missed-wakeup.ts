import { isTerminal } from '@parley/shared/domain/elicitations/status';
import { isParleyError } from '@parley/shared/domain/errors';
import type { StreamRef } from '@parley/shared/domain/ids';
import { DETACHED, type Run } from '@parley/shared/domain/runs/run';
import type { Engine } from '@parley/shared/elicitations/engine';
import type { Runs } from '@parley/shared/ports/runs/runs';
import { type ResumeRunDeps, resumeRun } from '@parley/shared/runs/resume';

export interface ForgottenDeps extends ResumeRunDeps {
  readonly engine: Pick<Engine, 'read'>;
  readonly runs: Pick<Runs, 'read' | 'standing' | 'takeOver'>;
}

/**
 * Wakes a detached run of whose waits one has ended, and whoever waits for it: that end wakes it itself, but a Redis that
 * failed over may have lost it. True when the run, and all that it delegated, still waits. Throws `unavailable`.
 */
export async function wakeIfForgotten(
  deps: ForgottenDeps,
  stream: StreamRef,
  term: number,
): Promise<boolean> {
  const { run } = await deps.runs.read(stream);
  if (run === undefined) return false;
  const waits = await Promise.all([...asking(deps, run), ...delegating(deps, run)]);
  if (waits.length > 0 && waits.every(Boolean)) return true;
  await resumeRun(deps, stream, term);
  return false;
}

/** For each question that the run waits for, whether it is open. */
function asking({ engine }: ForgottenDeps, { tenant, pauses }: Run): Promise<boolean>[] {
  const caller = { kind: 'service', tenant } as const;
  return pauses
    .filter(({ resumedAt }) => resumedAt === undefined)
    .map(async ({ elicitationId }) => {
      const seen = await engine.read(caller, elicitationId).catch(ifNotFound);
      return seen !== undefined && !isTerminal(seen.row.status);
    });
}

/** For each delegate that the run waits for, whether that waits, too. */
function delegating(deps: ForgottenDeps, { tenant, userId, calls }: Run): Promise<boolean>[] {
  return calls
    .filter(({ state, run }) => state === 'dispatched' && run !== undefined)
    .map(async ({ run: streamRequestId = '' }) => {
      const delegate = { tenant, userId, streamRequestId };
      const standing = await deps.runs.standing(delegate);
      return standing?.owner === DETACHED && wakeIfForgotten(deps, delegate, standing.term);
    });
}

function ifNotFound(error: unknown): undefined {
  if (!isParleyError(error, 'not_found')) throw error;
}
