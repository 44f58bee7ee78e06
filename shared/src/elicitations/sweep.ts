import { isParleyError } from '../domain/errors.ts';
import { BUCKET_COUNT } from '../domain/ids.ts';
import type { EngineDeps } from './deps.ts';
import { expire } from './expire.ts';

// Every bucket at once and few of each: a burst after an outage leaves gaps for the calls of people.
const BATCH = 8;

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
  const count = { expired: 0, forgotten: 0 };
  // On a Cluster one server may be away, and the buckets of the others must not wait for it.
  const rounds = await Promise.allSettled(
    Array.from({ length: BUCKET_COUNT }, (_, bucket) => sweepBucket(deps, bucket, count, signal)),
  );
  if (count.expired > 0) deps.observer.swept(count.expired);
  const failed = rounds.find((round) => round.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return count;
}

type Swept = 'expired' | 'forgotten' | 'left';

async function sweepBucket(
  deps: EngineDeps,
  bucket: number,
  count: { expired: number; forgotten: number },
  signal: AbortSignal | undefined,
): Promise<void> {
  let left = 0;
  while (signal?.aborted !== true) {
    // What could not be ended stays at the head; it is passed over, or it would keep all that follows from ending.
    const ids = await deps.elicitations.due(bucket, BATCH, left);
    for (const swept of await Promise.all(ids.map((id) => expireOrForget(deps, id)))) {
      if (swept === 'left') left += 1;
      else count[swept] += 1;
    }
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
