import { isParleyError } from '../domain/errors.ts';
import type { ArmedDeadline } from '../ports/elicitations/deadlines.ts';
import type { EngineDeps } from './deps.ts';
import { expireAny } from './expire-any.ts';

export interface ExpireDueInput {
  readonly bucket: number;
  /** How many records are expired at a time. */
  readonly batch: number;
  /** Stops between batches. */
  readonly signal?: AbortSignal | undefined;
}

/** What was done to overdue entries of the deadline index. */
export interface OverdueCounts {
  expired: number;
  /** Entries without an open row. */
  forgotten: number;
}

/**
 * Expires whatever is overdue in a bucket, then arms its next deadline and adds the job for it. Returns that deadline;
 * undefined when there is none. Safe to run on several processes at once.
 */
export async function expireDue(
  deps: EngineDeps,
  { bucket, batch, signal }: ExpireDueInput,
  counts: OverdueCounts = { expired: 0, forgotten: 0 },
): Promise<ArmedDeadline | undefined> {
  let skipped = 0;
  for (;;) {
    // An id that could not be expired stays at the head of the index. It is skipped, so that the following ids are reached.
    const ids = await deps.elicitations.due(bucket, batch, skipped);
    for (const done of await Promise.all(ids.map((id) => expireOrForget(deps, bucket, id)))) {
      if (done === 'skipped') skipped += 1;
      else counts[done] += 1;
    }
    const isStopped = signal?.aborted === true;
    if (ids.length === batch && !isStopped) continue;
    const next = await deps.elicitations.arm(bucket, skipped);
    // A deadline that has passed since is expired now. A stopped process leaves it to another one.
    if (next !== undefined && next.delayMs <= 0 && !isStopped) continue;
    if (next !== undefined) await addJob(deps, next);
    return next;
  }
}

/** Adds the job of an armed deadline. A failure is counted, and the next sweep adds the job again. */
export async function addJob(
  deps: Pick<EngineDeps, 'deadlineJobs' | 'observer'>,
  armed: ArmedDeadline,
): Promise<void> {
  try {
    await deps.deadlineJobs.add(armed);
  } catch (error) {
    deps.observer.timerFailed(armed.elicitationId, error);
  }
}

async function expireOrForget(
  deps: EngineDeps,
  bucket: number,
  id: string,
): Promise<keyof OverdueCounts | 'skipped'> {
  try {
    const result = await expireAny(deps, id);
    if (result.type === 'expired') return 'expired';
    if (result.type !== 'gone' && result.type !== 'ended') return 'skipped';
    await deps.elicitations.forget(bucket, id);
    return 'forgotten';
  } catch (error) {
    if (isParleyError(error, 'unavailable')) throw error;
    // One damaged row must not prevent the others from being expired.
    deps.observer.sweepFailed(id, error);
    return 'skipped';
  }
}
