import { UNOWNED } from '../domain/runs/run.ts';
import type { Heartbeats } from '../ports/runs/heartbeats.ts';
import type { RunQueue } from '../ports/runs/run-queue.ts';
import type { Runs, RunTerm } from '../ports/runs/runs.ts';

const OFFERS_AT_ONCE = 50;

interface OfferOrphansDeps {
  readonly runs: Pick<Runs, 'ownedBy'>;
  readonly heartbeats: Pick<Heartbeats, 'lapsed' | 'forget'>;
  readonly runQueue: Pick<RunQueue, 'offer'>;
}

export interface OfferOrphansInput {
  /** True also searches when no lease has lapsed, for runs whose queue entry was lost. */
  readonly evenIfNoneLapsed: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Offers the runs of pods whose lease has lapsed, and runs without an owner, to all pods. A pod is forgotten once a round finds
 * no runs of it. Returns the number of offered runs. Throws `unavailable`; repeatable.
 */
export async function offerOrphans(
  { runs, heartbeats, runQueue }: OfferOrphansDeps,
  { evenIfNoneLapsed, signal }: OfferOrphansInput,
): Promise<number> {
  const lapsed = await heartbeats.lapsed();
  if (lapsed.length === 0 && !evenIfNoneLapsed) return 0;
  let offered = 0;
  let orphans: RunTerm[] = [];
  const offerAll = async () => {
    await Promise.all(orphans.map(({ stream, term }) => runQueue.offer(stream, term)));
    offered += orphans.length;
    orphans = [];
  };
  for await (const orphan of runs.ownedBy(new Set([...lapsed, UNOWNED]))) {
    signal?.throwIfAborted();
    orphans.push(orphan);
    if (orphans.length >= OFFERS_AT_ONCE) await offerAll();
  }
  await offerAll();
  if (offered === 0) await Promise.all(lapsed.map((pod) => heartbeats.forget(pod)));
  return offered;
}
