import { type ExpireDueDeps, expireDue, type OverdueCounts } from '../records/expire-due.ts';
import { inTurn, type Turn } from '../records/in-turn.ts';

// All buckets at the same time and few ids of each, so that a sweep after an outage does not block requests.
const BATCH = 8;

type SweepResult = Readonly<OverdueCounts>;

/**
 * Expires whatever is overdue in the deadline index, and adds the job of each bucket's next deadline again. This is the
 * last layer, for when timers, jobs, pods or workers were lost. Safe to run on every pod at once. `signal` stops it between
 * batches. Throws `unavailable` when part of the index could not be swept, once the rest has been.
 */
export async function sweep(deps: ExpireDueDeps, signal?: AbortSignal): Promise<SweepResult> {
  const count: OverdueCounts = { expired: 0, forgotten: 0 };
  const expire = (bucket: number) => expireDue(deps, { bucket, batch: BATCH, signal }, count);
  // On a Cluster one server may be unavailable, and the buckets of the others must not wait for it.
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
 * Sweeps unless another process has begun to since the last round. Undefined when it was not this process's turn. Throws as
 * `sweep` does.
 */
export function sweepInTurn(
  deps: ExpireDueDeps,
  turn: Turn,
  signal?: AbortSignal,
): Promise<SweepResult | undefined> {
  return inTurn(deps.claims, 'deadlines', turn, () => sweep(deps, signal));
}
