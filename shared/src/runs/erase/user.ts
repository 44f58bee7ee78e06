/**
 * The order of steps that erases one person completely and can be continued after a crash. Removing the data of a part is in
 * `remove-part.ts`.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from '@parley/core/domain/ids';
import { type Erased, type ErasedCounts, NOTHING_ERASED, USER_ERASED } from '../../domain/erasure.ts';
import type { Engine } from '../../elicitations/engine.ts';
import { openPages } from '../../elicitations/open-pages.ts';
import type { Backend } from '../../ports/backend.ts';
import type { StoredPart } from '../../ports/erasure.ts';
import { withdraw } from '../open-questions.ts';
import { endTurn, type TakenTurn, takeTurn } from './end-turns.ts';
import { type RemovePartDeps, removePart } from './remove-part.ts';

export interface EraseUserDeps extends RemovePartDeps {
  readonly backend: RemovePartDeps['backend'] & Pick<Backend, 'runs' | 'runQueue' | 'pages' | 'ownerRecords'>;
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>;
  /** The delivery kinds whose tasks may concern turns of the person. */
  readonly deliveryKinds: readonly string[];
  /** Removes the links between the fenced person and accounts of other services; absent when the deployment has none. */
  readonly unlink: ((owner: Owner) => Promise<void>) | undefined;
  /** Revokes and deletes credentials of a person and returns their number; called until none are left. */
  readonly eraseAccounts: (owner: Owner) => Promise<number>;
  /** The rate limits that count a user's calls. */
  readonly userLimits: readonly string[];
  /**
   * The time between ending questions and turns and removing them, in ms, in which waiters and open streams can read the end.
   * It is skipped when nothing was open.
   */
  readonly graceMs: number;
  /** How long one call works, in ms. Each call removes at least one part of the data. */
  readonly budgetMs: number;
}

// A pod notices within seconds that its turn was taken; this leaves minutes for an outage of its connection.
const FENCE_MS = 300_000;

/**
 * Removes all data of one person. First it ends what is running: the terms of the turns rise, so that no pod can write them,
 * and open questions are withdrawn. Then it removes one part after another, each before the index that lists it. After an
 * interruption, the same call continues. Throws `unavailable`.
 */
export async function eraseUser(deps: EraseUserDeps, { tenant, userId }: Owner): Promise<Erased> {
  const { erasure, pages, limits, outbox, ownerRecords, runQueue } = deps.backend;
  const owner = { tenant, userId };
  const endsAt = performance.now() + deps.budgetMs;
  await erasure.fence(owner, FENCE_MS);
  await deps.unlink?.(owner);
  const taken = await takeTurns(deps, owner);
  const withdrawn = await withdrawAll(deps, owner);
  for (const one of taken) await endTurn(deps.backend.runs, one);
  let counts: ErasedCounts = { ...NOTHING_ERASED, withdrawn, stopped: taken.length };
  if (withdrawn + taken.length > 0) await sleep(deps.graceMs);
  // The end of a question offers the run that waited for it, so the offer is withdrawn.
  await Promise.all(taken.map(({ run, term }) => runQueue.withdraw(run, term)));
  for (;;) {
    const part = await erasure.next(owner);
    if (Object.values(part).every(({ length }) => length === 0)) break;
    await removePart(deps, owner, part);
    counts = addPart(counts, part);
    await erasure.fence(owner, FENCE_MS);
    if (performance.now() > endsAt) return { complete: false, counts };
  }
  // Pages are dropped before accounts, so that no new flow can bring another credential.
  const pageEntries = await pages.dropOf(owner);
  for (const records of Object.values(ownerRecords)) await records.removeAll(owner);
  // This comes after removing the delivery targets, because while those exist, tasks may be added.
  for (const kind of deps.deliveryKinds) await outbox.removeOf(owner, kind);
  let accounts = 0;
  // A flow that began earlier may still bring another credential during the erasure.
  for (;;) {
    const found = await deps.eraseAccounts(owner);
    if (found === 0) break;
    accounts += found;
    if (performance.now() > endsAt)
      return { complete: false, counts: { ...counts, pages: pageEntries, accounts } };
  }
  await Promise.all(deps.userLimits.map((limit) => limits.reset(limit, owner)));
  await erasure.removeCounters(owner);
  return { complete: true, counts: { ...counts, pages: pageEntries, accounts } };
}

/** Takes every running turn of the person from its pod. */
async function takeTurns(deps: EraseUserDeps, owner: Owner): Promise<TakenTurn[]> {
  const taken: TakenTurn[] = [];
  for await (const ids of deps.backend.erasure.turns(owner)) {
    const turns = await Promise.all(
      ids.map((streamRequestId) => takeTurn(deps.backend.runs, { ...owner, streamRequestId })),
    );
    taken.push(...turns.filter((turn) => turn !== undefined));
  }
  return taken;
}

async function withdrawAll({ engine }: EraseUserDeps, owner: Owner): Promise<number> {
  let count = 0;
  for await (const { records, now } of openPages((request) => engine.openRecords(request), { owner })) {
    await Promise.all(
      records.map((record) =>
        withdraw(engine, owner.tenant, record.row.id, { seen: { ...record, now }, reason: USER_ERASED }),
      ),
    );
    count += records.length;
  }
  return count;
}

function addPart(counts: ErasedCounts, part: StoredPart): ErasedCounts {
  return {
    ...counts,
    elicitations: counts.elicitations + part.elicitationIds.length,
    turns: counts.turns + part.turnIds.length,
    conversations: counts.conversations + part.conversationIds.length,
  };
}
