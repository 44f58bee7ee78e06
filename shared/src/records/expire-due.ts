import type { ArmedDeadline } from '../ports/elicitations/deadlines.ts';
import type { EngineDeps } from './deps.ts';
import { expireTogether } from './expire-any.ts';
import type { FamiliesDeps } from './family-deps.ts';
import type { LeaveToAskers } from './leave-to-askers.ts';

export interface ExpireDueInput {
  readonly bucket: number;
  /** How many records are expired at a time. */
  readonly batch: number;
  /**
   * Only deadlines that passed at least this long ago are expired, in ms; later ones are left to the pods that asked. 0 when
   * absent.
   */
  readonly overdueMs?: number;
  /** Stops the work between two batches. */
  readonly signal?: AbortSignal | undefined;
}

/** The dependencies of `expireDue`. */
export interface ExpireDueDeps extends FamiliesDeps {
  readonly leaveToAskers: LeaveToAskers;
}

/** What happened to overdue entries of the deadline index. */
export interface OverdueCounts {
  expired: number;
  /** The number of entries without an open row, which were removed. */
  forgotten: number;
}

/**
 * Expires every overdue record of a bucket, arms the bucket's next deadline and adds its job. Returns that deadline; undefined
 * when there is none. Several processes may run it at once.
 */
export async function expireDue(
  deps: ExpireDueDeps,
  { bucket, batch, overdueMs = 0, signal }: ExpireDueInput,
  counts: OverdueCounts = { expired: 0, forgotten: 0 },
): Promise<ArmedDeadline | undefined> {
  let skipped = 0;
  const isLeft = deps.leaveToAskers();
  for (;;) {
    // Ids that could not be expired stay at the head of the index, and are skipped to reach the following ones.
    const ids = await deps.elicitations.due(bucket, batch, skipped, overdueMs);
    if (ids.length > 0 && (await isLeft()) && signal?.aborted !== true) continue;
    skipped += await expireOrForget(deps, bucket, ids, counts);
    const isStopped = signal?.aborted === true;
    if (ids.length === batch && !isStopped) continue;
    const next = await deps.elicitations.arm(bucket, skipped);
    // If the next deadline has passed in this moment, it is expired now. A stopped process leaves it to another one.
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

/**
 * Expires records, and removes entries without an open row. Returns the number of entries that stay in the index. Throws
 * `unavailable`.
 */
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
