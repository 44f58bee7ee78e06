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
  /** Names of the delivery kinds whose tasks may be about turns of the person. */
  readonly deliveryKinds: readonly string[];
  /** Ends the links of accounts of other services to a person, who is fenced; absent where there are none. */
  readonly unlink: ((owner: Owner) => Promise<void>) | undefined;
  /** Revokes and deletes the credentials of a person. Returns how many there were; called until there are none. */
  readonly eraseAccounts: (owner: Owner) => Promise<number>;
  /** The limits under which a user has a budget. */
  readonly userLimits: readonly string[];
  /**
   * Time between the end of questions and turns and their removal, in ms: waiters and open streams read the end
   * in that time. Not spent when nothing was open.
   */
  readonly graceMs: number;
  /** How long one call works, in ms. Each call removes at least one part of what is stored. */
  readonly budgetMs: number;
}

// A pod notices within seconds that its turn was taken away. This leaves minutes for an outage of its connection.
const FENCE_MS = 300_000;

/**
 * Removes all that is stored of one person. First ends what is under way: the terms of the turns rise, so that no pod
 * writes them any more, and the open questions are withdrawn. Then removes part after part, each before the index that
 * lists it. The same call again continues where an earlier one was interrupted. Throws `unavailable`.
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
  // The end of a question offers the run that waited for it.
  await Promise.all(taken.map(({ run, term }) => runQueue.withdraw(run, term)));
  for (;;) {
    const part = await erasure.next(owner);
    if (Object.values(part).every(({ length }) => length === 0)) break;
    await removePart(deps, owner, part);
    counts = addPart(counts, part);
    await erasure.fence(owner, FENCE_MS);
    if (performance.now() > endsAt) return { complete: false, counts };
  }
  // The pages before the accounts: no flow can begin that would bring another credential.
  const pageEntries = await pages.dropOf(owner);
  for (const records of Object.values(ownerRecords)) await records.removeAll(owner);
  // After the targets of deliveries, without which no task is added.
  for (const kind of deps.deliveryKinds) await outbox.removeOf(owner, kind);
  let accounts = 0;
  // A flow that had begun before may bring another credential during the erasure.
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

/** Takes every running turn away from its pod. */
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
