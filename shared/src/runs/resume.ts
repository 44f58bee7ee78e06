import type { StreamRef } from '../domain/ids.ts';
import { DETACHED, UNOWNED } from '../domain/runs/run.ts';
import type { OutboxHandlers } from '../ports/delivery/outbox.ts';
import type { RunQueue } from '../ports/runs/run-queue.ts';
import type { Runs } from '../ports/runs/runs.ts';

export interface ResumeRunDeps {
  readonly runs: Pick<Runs, 'standing' | 'takeOver'>;
  readonly runQueue: Pick<RunQueue, 'offer'>;
}

/** Does the outbox's tasks of that kind. */
export function resumeHandler(deps: ResumeRunDeps): OutboxHandlers['wake'] {
  return async ({ stream, term }) => {
    await resumeRun(deps, stream, term);
    return 'done';
  };
}

/**
 * Offers a detached run to all pods, and whoever waits for it: one of them goes on. Harmless when repeated, and when
 * the run was woken before: `term` is the one that it was detached under. Throws `unavailable`.
 */
export async function resumeRun(deps: ResumeRunDeps, stream: StreamRef, term: number): Promise<void> {
  const { runs, runQueue } = deps;
  const woken = await runs.takeOver(stream, term, UNOWNED);
  if (woken !== undefined) await runQueue.offer(stream, woken);
  const standing = await runs.standing(stream);
  // It was detached anew since: that is another wait.
  if (standing?.parent === undefined || standing.owner === DETACHED) return;
  const parent = { ...stream, streamRequestId: standing.parent.streamRequestId };
  const waiting = await runs.standing(parent);
  if (waiting?.status === 'running' && waiting.owner === DETACHED)
    await resumeRun(deps, parent, waiting.term);
}
