import { UNOWNED } from '../domain/runs/run.ts';
import type { Heartbeats } from '../ports/runs/heartbeats.ts';
import type { RunQueue } from '../ports/runs/run-queue.ts';
import type { OwnedRun, Runs } from '../ports/runs/runs.ts';

const OFFERS_AT_ONCE = 50;

export interface OfferLapsedDeps {
  readonly runs: Pick<Runs, 'ownedBy'>;
  readonly heartbeats: Pick<Heartbeats, 'lapsed' | 'forget'>;
  readonly runQueue: Pick<RunQueue, 'offer'>;
}

export interface OfferLapsedInput {
  /** True: look for turns whose place in the queue was lost as well, whether or not any pod has died. */
  readonly evenIfNobodyDied: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Offers the turns of dead pods to the living ones, again and again until they are taken; a dead pod that owns nothing
 * any more is forgotten. Returns how many were offered. Throws `unavailable`.
 */
export async function offerLapsed(
  { runs, heartbeats, runQueue }: OfferLapsedDeps,
  { evenIfNobodyDied, signal }: OfferLapsedInput,
): Promise<number> {
  const dead = await heartbeats.lapsed();
  if (dead.length === 0 && !evenIfNobodyDied) return 0;
  let offered = 0;
  let found: OwnedRun[] = [];
  const offerFound = async () => {
    await Promise.all(found.map(({ stream, term }) => runQueue.offer(stream, term)));
    offered += found.length;
    found = [];
  };
  for await (const lapsed of runs.ownedBy(new Set([...dead, UNOWNED]))) {
    signal?.throwIfAborted();
    found.push(lapsed);
    if (found.length >= OFFERS_AT_ONCE) await offerFound();
  }
  await offerFound();
  if (offered === 0) await Promise.all(dead.map((pod) => heartbeats.forget(pod)));
  return offered;
}
