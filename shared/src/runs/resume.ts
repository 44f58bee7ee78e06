import { isParleyError } from '@parley/core/domain/errors';
import type { StreamRef } from '@parley/core/domain/ids';
import { DETACHED, type Run, UNOWNED } from '../domain/runs/run.ts';
import type { Engine } from '../elicitations/engine.ts';
import { type DeliveryKind, NOT_UNDERSTOOD } from '../ports/delivery/kind.ts';
import { parseResumeTask, RESUME_RUN } from '../ports/runs/resume-task.ts';
import type { RunQueue } from '../ports/runs/run-queue.ts';
import type { Runs } from '../ports/runs/runs.ts';
import { openPauses } from './open-questions.ts';
import { delegatesOf } from './stop.ts';

export interface ResumeRunDeps {
  readonly runs: Pick<Runs, 'standing' | 'takeOver'>;
  readonly runQueue: Pick<RunQueue, 'offer'>;
}

const PLACES = 16;
// A worker that missed the announcement of a resumption finds it before this time.
const LATE_MS = 30_000;

/** The delivery kind that resumes detached runs. */
export function resumeRunKind(deps: ResumeRunDeps): DeliveryKind {
  return {
    name: RESUME_RUN,
    places: PLACES,
    immediate: true,
    async handle(task) {
      const detached = parseResumeTask(task);
      if (detached === undefined) return NOT_UNDERSTOOD;
      await resumeRun(deps, detached.stream, detached.term);
      return 'done';
    },
  };
}

/**
 * Offers a detached run, and a detached run that waits for it, to all pods; one of them continues it. `term` is the term under
 * which the run was detached, so that a repeated call changes nothing. Throws `unavailable`.
 */
export async function resumeRun(deps: ResumeRunDeps, stream: StreamRef, term: number): Promise<void> {
  const { runs, runQueue } = deps;
  const queued = await runs.takeOver(stream, term, UNOWNED);
  if (queued !== undefined) await runQueue.offer(stream, queued);
  const standing = await runs.standing(stream);
  // If the run was detached again since, that is a different wait.
  if (standing?.parent === undefined || standing.owner === DETACHED) return;
  const parent = { ...stream, streamRequestId: standing.parent.streamRequestId };
  const waiting = await runs.standing(parent);
  if (waiting?.status === 'running' && waiting.owner === DETACHED)
    await resumeRun(deps, parent, waiting.term);
}

interface ResumeIfMissedDeps extends ResumeRunDeps {
  readonly engine: Pick<Engine, 'isOpen'>;
  readonly runs: Pick<Runs, 'read' | 'standing' | 'takeOver'>;
}

/**
 * Resumes a detached run if one of its waits, or its rest, has ended. Normally the commit that ended a wait notes the
 * resumption in the outbox, and so does the commit that began a rest, but a failover of Redis may have lost that note. Returns
 * true when all waits of the run are still open. Throws `unavailable`.
 */
export async function resumeIfMissed(
  deps: ResumeIfMissedDeps,
  stream: StreamRef,
  term: number,
): Promise<boolean> {
  const { run, now } = await deps.runs.read(stream);
  if (run === undefined) return false;
  const areOpen = await Promise.all([...areQuestionsOpen(deps, run), ...areDelegatesWaiting(deps, run)]);
  // A resting turn is not resumed before its rest is over: readers of the turn must not cause its remote task to be polled more
  // often than the remote server allows.
  const isOver = run.restsUntil === undefined ? areOpen.length === 0 : now >= run.restsUntil + LATE_MS;
  if (!isOver && areOpen.every(Boolean)) return true;
  await resumeRun(deps, stream, term);
  return false;
}

function areQuestionsOpen({ engine }: ResumeIfMissedDeps, { tenant, pauses }: Run): Promise<boolean>[] {
  const caller = { kind: 'service', tenant } as const;
  return openPauses(pauses).map(async ({ elicitationId }) => {
    try {
      return await engine.isOpen(caller, elicitationId);
    } catch (error) {
      if (!isParleyError(error, 'not_found')) throw error;
      return false;
    }
  });
}

function areDelegatesWaiting(deps: ResumeIfMissedDeps, run: Run): Promise<boolean>[] {
  return delegatesOf(run).map(async (delegate) => {
    const standing = await deps.runs.standing(delegate);
    return standing?.owner === DETACHED && resumeIfMissed(deps, delegate, standing.term);
  });
}
