import { type ExpireDueDeps, expireDue, type OverdueCounts } from '../records/expire-due.ts';
import { inTurn, type Turn } from '../records/in-turn.ts';

// The sweep reads all buckets in parallel but few ids of each, so that a sweep after an outage does not block requests.
const BATCH = 8;

type SweepResult = Readonly<OverdueCounts>;

/**
 * Expires every overdue record in the deadline index, and adds the job for each bucket's next deadline again. This is the last
 * safeguard, for lost timers, jobs, pods or workers. All pods may run it at once. `signal` stops it between batches. Throws
 * `unavailable` when a part of the index could not be swept, after sweeping the rest.
 */
export async function sweep(deps: ExpireDueDeps, signal?: AbortSignal): Promise<SweepResult> {
  const count: OverdueCounts = { expired: 0, forgotten: 0 };
  const expire = (bucket: number) => expireDue(deps, { bucket, batch: BATCH, signal }, count);
  // On a Cluster, one server may be unavailable, and the buckets of the others must not wait for it.
  const parts = await Promise.allSettled(
    deps.elicitations.occupied().map(async (part) => Promise.allSettled((await part).map(expire))),
  );
  const rounds = parts.flatMap((part) => (part.status === 'fulfilled' ? part.value : [part]));
  if (count.expired > 0) deps.observer.swept(count.expired);
  const failed = rounds.find((round) => round.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return count;
}

/**
 * Sweeps, unless another process has started a sweep since the last round; then the result is undefined. Throws like `sweep`.
 */
export function sweepInTurn(
  deps: ExpireDueDeps,
  turn: Turn,
  signal?: AbortSignal,
): Promise<SweepResult | undefined> {
  return inTurn(deps.claims, 'deadlines', turn, () => sweep(deps, signal));
}
