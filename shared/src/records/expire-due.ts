import type { ArmedDeadline } from '../ports/elicitations/deadlines.ts';
import type { EngineDeps } from './deps.ts';
import { expireTogether } from './expire-any.ts';
import type { FamiliesDeps } from './family-deps.ts';
import type { LeaveToAskers } from './leave-to-askers.ts';

export interface ExpireDueInput {
  readonly bucket: number;
  /** How many records are expired at a time. */
  readonly batch: number;
  /** Expires deadlines that passed at least so many ms ago, and leaves later ones to the pods that asked; 0 when absent. */
  readonly overdueMs?: number;
  /** Stops between batches. */
  readonly signal?: AbortSignal | undefined;
}

/** What expires the overdue entries of buckets. */
export interface ExpireDueDeps extends FamiliesDeps {
  readonly leaveToAskers: LeaveToAskers;
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
  deps: ExpireDueDeps,
  { bucket, batch, overdueMs = 0, signal }: ExpireDueInput,
  counts: OverdueCounts = { expired: 0, forgotten: 0 },
): Promise<ArmedDeadline | undefined> {
  let skipped = 0;
  const isLeft = deps.leaveToAskers();
  for (;;) {
    // An id that could not be expired stays at the head of the index. It is skipped, so that the following ids are reached.
    const ids = await deps.elicitations.due(bucket, batch, skipped, overdueMs);
    if (ids.length > 0 && (await isLeft()) && signal?.aborted !== true) continue;
    skipped += await expireOrForget(deps, bucket, ids, counts);
    const isStopped = signal?.aborted === true;
    if (ids.length === batch && !isStopped) continue;
    const next = await deps.elicitations.arm(bucket, skipped);
    // A deadline that has passed since is expired now. A stopped process leaves it to another one.
    if (next !== undefined && next.delayMs <= -overdueMs && !isStopped) continue;
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

/** Expires records, and forgets entries without an open row. Returns how many entries stay in the index. Throws `unavailable`. */
async function expireOrForget(
  deps: FamiliesDeps,
  bucket: number,
  ids: readonly string[],
  counts: OverdueCounts,
): Promise<number> {
  const { results, unavailable } = await expireTogether(deps, ids);
  let skipped = 0;
  const forgotten: string[] = [];
  for (const id of ids) {
    const type = results.get(id)?.type;
    if (type === 'expired') counts.expired += 1;
    else if (type === 'gone' || type === 'ended') forgotten.push(id);
    else skipped += 1;
  }
  await Promise.all(forgotten.map((id) => deps.elicitations.forget(bucket, id)));
  counts.forgotten += forgotten.length;
  if (unavailable !== undefined) throw unavailable;
  return skipped;
}
