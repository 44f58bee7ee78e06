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
 * Safe to run on every pod at once. `signal` stops it between elicitations.
 */
export async function sweep(deps: EngineDeps, signal?: AbortSignal): Promise<SweepResult> {
  let expired = 0;
  let forgotten = 0;
  for (let bucket = 0; bucket < BUCKET_COUNT; bucket += 1) {
    let left = 0;
    let more: boolean;
    do {
      if (signal?.aborted === true) return { expired, forgotten };
      // What could not be ended stays at the head; it is passed over, or it would keep all that follows from ending.
      const ids = await deps.elicitations.due(bucket, BATCH, left);
      const results = await Promise.all(ids.map((id) => expireOrForget(deps, id)));
      expired += results.filter((type) => type === 'expired').length;
      forgotten += results.filter((type) => type === 'forgotten').length;
      left += results.filter((type) => type === 'left').length;
      more = ids.length === BATCH;
    } while (more);
  }
  if (expired > 0) deps.observer.swept(expired);
  return { expired, forgotten };
}

async function expireOrForget(deps: EngineDeps, id: string): Promise<'expired' | 'forgotten' | 'left'> {
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
