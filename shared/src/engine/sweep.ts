import { isParleyError } from '../domain/errors.ts';
import { BUCKET_COUNT } from '../domain/ids.ts';
import type { EngineDeps } from './deps.ts';
import { expire } from './expire.ts';

const BATCH = 200;

export interface SweepResult {
  readonly expired: number;
  /** Index entries that led to no row. */
  readonly forgotten: number;
}

/**
 * Expires whatever is overdue in the deadline index: the layer that holds when timers, pods or workers were lost.
 * Safe to run on every pod at once. `signal` stops it between batches. Throws `unavailable` when part of the index could
 * not be swept, once the rest has been.
 */
export async function sweep(deps: EngineDeps, signal?: AbortSignal): Promise<SweepResult> {
  const count = { expired: 0, forgotten: 0, left: 0 };
  let away: unknown;
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket += 1) {
    try {
      await sweepBucket(deps, bucket, count, signal);
    } catch (error) {
      // On a Cluster one server may be away, and the buckets of the others must not wait for it.
      if (!isParleyError(error, 'unavailable')) throw error;
      away ??= error;
    }
  }
  if (count.expired > 0) deps.observer.swept(count.expired);
  if (away !== undefined) throw away;
  return { expired: count.expired, forgotten: count.forgotten };
}

type Swept = 'expired' | 'forgotten' | 'left';

async function sweepBucket(
  deps: EngineDeps,
  bucket: number,
  count: Record<Swept, number>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const leftBefore = count.left;
  while (signal?.aborted !== true) {
    // What could not be ended stays at the head; it is passed over, or it would keep all that follows from ending.
    const ids = await deps.elicitations.due(bucket, BATCH, count.left - leftBefore);
    for (const swept of await Promise.all(ids.map((id) => expireOrForget(deps, id)))) count[swept] += 1;
    if (ids.length < BATCH) return;
  }
}

async function expireOrForget(deps: EngineDeps, id: string): Promise<Swept> {
  try {
    const result = await expire(deps, id);
    if (result.type === 'expired') return 'expired';
    if (result.type !== 'gone' && result.type !== 'ended') return 'left';
    await deps.elicitations.forget(id);
    return 'forgotten';
  } catch (error) {
    if (isParleyError(error, 'unavailable')) throw error;
    // One row that cannot be read must not keep the others from ending.
    deps.observer.sweepFailed(id, error);
    return 'left';
  }
}
