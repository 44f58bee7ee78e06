import { setTimeout as sleep } from 'node:timers/promises';
import { SECRET_TOOL_ID } from '../domain/credential.ts';
import type { Row } from '../domain/elicitations/row.ts';
import { type Erased, type ErasedCounts, NOTHING_ERASED, USER_ERASED } from '../domain/erasure.ts';
import type { Owner } from '../domain/ids.ts';
import { type Run, UNOWNED } from '../domain/runs/run.ts';
import { webhookIdOf } from '../domain/webhooks/webhook.ts';
import type { Engine } from '../elicitations/engine.ts';
import { openPages } from '../elicitations/open-pages.ts';
import { dropKeyClaim } from '../elicitations/records/claim-key.ts';
import type { Backend } from '../ports/backend.ts';
import type { Deliveries } from '../ports/delivery/kind.ts';
import type { ClaimName } from '../ports/elicitations/claims.ts';
import type { StoredPart } from '../ports/erasure.ts';
import { withdraw } from './open-questions.ts';

export interface EraseUserDeps {
  readonly backend: Pick<
    Backend,
    | 'records'
    | 'runs'
    | 'runQueue'
    | 'outbox'
    | 'deadLetters'
    | 'claims'
    | 'limits'
    | 'connect'
    | 'erasure'
    | 'ownerRecords'
  >;
  readonly engine: Pick<Engine, 'openRecords' | 'withdrawRecord'>;
  readonly deliveries: Pick<Deliveries, 'notesOn'>;
  /** Names of the delivery kinds whose tasks may be about turns of the person. */
  readonly deliveryKinds: readonly string[];
  /** Ends the links of accounts of other services to a person, who is fenced; absent where there are none. */
  readonly unlink: ((owner: Owner) => Promise<void>) | undefined;
  /** Revokes and deletes the credentials of a person. Returns how many there were; called until there are none. */
  readonly eraseAccounts: (owner: Owner) => Promise<number>;
  /** The limits under which a user has a budget. */
  readonly userLimits: readonly string[];
  /** The limits under which a user has a budget for one elicitation. */
  readonly elicitationLimits: (elicitationId: string) => readonly string[];
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
const ATTEMPTS_MAX = 5;

/**
 * Removes all that is stored of one person. First ends what is under way: the terms of the turns rise, so that no pod
 * writes them any more, and the open questions are withdrawn. Then removes part after part, each before the index that
 * lists it. The same call again continues where an earlier one was interrupted. Throws `unavailable`.
 */
export async function eraseUser(deps: EraseUserDeps, { tenant, userId }: Owner): Promise<Erased> {
  const { erasure, connect, limits, outbox, ownerRecords, runQueue } = deps.backend;
  const owner = { tenant, userId };
  const endsAt = performance.now() + deps.budgetMs;
  await erasure.fence(owner, FENCE_MS);
  await deps.unlink?.(owner);
  const taken = await takeTurns(deps, owner);
  const withdrawn = await withdrawAll(deps, owner);
  for (const one of taken) await endTurn(deps, one);
  let counts: ErasedCounts = { ...NOTHING_ERASED, withdrawn, stopped: taken.length };
  if (withdrawn + taken.length > 0) await sleep(deps.graceMs);
  // The end of a question offers the run that waited for it.
  await Promise.all(taken.map(({ run, term }) => runQueue.withdraw(run, term)));
  for (;;) {
    const part = await erasure.next(owner);
    if (Object.values(part).every(({ length }) => length === 0)) break;
    const { records } = await deps.backend.records.readMany(part.elicitationIds);
    const known = records.flatMap((record) => (record?.family === 'elicitation' ? [record.row] : []));
    const whole = { ...part, streamRequestIds: streamsOf(part, known) };
    await removeElsewhere(deps, owner, whole, known);
    await erasure.remove(owner, whole);
    counts = addPart(counts, part);
    await erasure.fence(owner, FENCE_MS);
    if (performance.now() > endsAt) return { complete: false, counts };
  }
  // The pages before the accounts: no flow can begin that would bring another credential.
  const pages = await connect.dropOf(owner);
  for (const records of Object.values(ownerRecords)) await records.removeAll(owner);
  // After the targets of deliveries, without which no task is added.
  for (const kind of deps.deliveryKinds) await outbox.removeOf(owner, kind);
  let accounts = 0;
  // A flow that had begun before may bring another credential during the erasure.
  for (;;) {
    const found = await deps.eraseAccounts(owner);
    if (found === 0) break;
    accounts += found;
    if (performance.now() > endsAt) return { complete: false, counts: { ...counts, pages, accounts } };
  }
  await Promise.all(deps.userLimits.map((limit) => limits.reset(limit, owner)));
  await erasure.removeCounters(owner);
  return { complete: true, counts: { ...counts, pages, accounts } };
}

interface TakenTurn {
  readonly run: Run;
  readonly term: number;
}

/** Takes every running turn away from its pod. */
async function takeTurns(deps: EraseUserDeps, owner: Owner): Promise<TakenTurn[]> {
  const taken: TakenTurn[] = [];
  for await (const ids of deps.backend.erasure.turns(owner)) {
    const turns = await Promise.all(
      ids.map((streamRequestId) => takeTurn(deps, { ...owner, streamRequestId })),
    );
    taken.push(...turns.filter((turn) => turn !== undefined));
  }
  return taken;
}

async function takeTurn(
  { backend: { runs } }: EraseUserDeps,
  stream: Owner & { readonly streamRequestId: string },
): Promise<TakenTurn | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const standing = await runs.standing(stream);
    if (standing?.status !== 'running') return undefined;
    const term =
      standing.owner === UNOWNED ? standing.term : await runs.takeOver(stream, standing.term, UNOWNED);
    // Another pod was faster.
    if (term === undefined) continue;
    const { run } = await runs.read(stream);
    return run && { run, term };
  }
  return undefined;
}

/** Ends a turn that was taken away. Where a pod has claimed it since, the removal of its record ends it. */
async function endTurn({ backend: { runs } }: EraseUserDeps, { run, term }: TakenTurn): Promise<void> {
  await runs.write(run, {
    term,
    firstSeq: run.writerSeq + 1,
    events: [{ type: 'turn-finished', reason: 'stopped' }],
    end: { status: 'stopped', messages: [] },
  });
}

async function withdrawAll({ engine }: EraseUserDeps, owner: Owner): Promise<number> {
  let count = 0;
  for await (const { records, now } of openPages((request) => engine.openRecords(request), { owner })) {
    await Promise.all(
      records.map((record) => withdraw(engine, owner.tenant, record.row.id, { ...record, now }, USER_ERASED)),
    );
    count += records.length;
  }
  return count;
}

/** The stream requests of a part: those that an index lists, and those that only the rows name. */
function streamsOf(part: StoredPart, rows: readonly Row[]): string[] {
  return [...new Set([...part.streamRequestIds, ...rows.map((row) => row.definition.streamRequestId)])];
}

/** Removes what a part has in other slots than its person's data: the indexes of these lead there no more afterwards. */
async function removeElsewhere(
  deps: EraseUserDeps,
  owner: Owner,
  part: StoredPart,
  known: readonly Row[],
): Promise<void> {
  const { claims } = deps.backend;
  const { tenant } = owner;
  const streams = [...part.streamRequestIds, ...part.turnIds];
  await Promise.all([
    ...part.elicitationIds.map((id) => removeOfElicitation(deps, owner, id)),
    ...known.map((row) => removeOfRow(deps, row)),
    ...streams.map((name) => claims.drop({ family: 'stream', tenant, name }, owner.userId)),
    ...part.idempotencyKeys.map((asked) => dropKeyClaim(claims, tenant, asked)),
  ]);
}

async function removeOfElicitation(
  { backend: { deadLetters, limits }, elicitationLimits }: EraseUserDeps,
  owner: Owner,
  id: string,
): Promise<void> {
  await Promise.all([
    deadLetters.remove(owner.tenant, webhookIdOf(id)),
    ...elicitationLimits(id).map((limit) => limits.reset(limit, owner)),
  ]);
}

async function removeOfRow({ backend, deliveries }: EraseUserDeps, row: Row): Promise<void> {
  const { id, definition, status } = row;
  const { tenant, context } = definition;
  const { tasks } = deliveries.notesOn({ id, definition, status });
  await Promise.all([
    ...tasks.map((task) => backend.outbox.remove(task)),
    context.toolId === SECRET_TOOL_ID && dropSecretClaim(backend, { family: 'secret', tenant, name: id }),
  ]);
}

async function dropSecretClaim({ claims }: EraseUserDeps['backend'], name: ClaimName): Promise<void> {
  const taker = await claims.read(name);
  if (taker !== undefined) await claims.drop(name, taker);
}

function addPart(counts: ErasedCounts, part: StoredPart): ErasedCounts {
  return {
    ...counts,
    elicitations: counts.elicitations + part.elicitationIds.length,
    turns: counts.turns + part.turnIds.length,
    conversations: counts.conversations + part.conversationIds.length,
  };
}
