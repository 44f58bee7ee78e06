import type { FamilyTypes } from '../../domain/family.ts';
import type { Move } from '../../ports/elicitations/elicitations.ts';
import type { RecordDeps } from './deps.ts';
import { isIdOf, type SeenRecord } from './read.ts';
import { afterCommit, settle } from './settle.ts';

export type ExpireResult =
  | { readonly type: 'expired' }
  /** It had ended before. */
  | { readonly type: 'ended' }
  /** Not due yet on the Redis clock: fire again in `remainingMs`. */
  | { readonly type: 'early'; readonly remainingMs: number }
  /** No such row. */
  | { readonly type: 'gone' };

/** Ends a record whose deadline has passed on the Redis clock; anything else it leaves alone. */
export async function expire<T extends FamilyTypes>(deps: RecordDeps<T>, id: string): Promise<ExpireResult> {
  const { family, records } = deps;
  if (!isIdOf(deps, id)) return { type: 'gone' };
  const { row, now } = await records.read(id);
  if (row === undefined) return { type: 'gone' };
  if (family.isTerminal(row.status)) return { type: 'ended' };
  const caller = { kind: 'service', tenant: row.definition.tenant } as const;
  const after = await settle(deps, caller, { row, now }, { type: 'expire' });
  if (family.isTerminal(after.row.status)) {
    return { type: after.row.status === 'expired' ? 'expired' : 'ended' };
  }
  return early(after);
}

/** As `expire` for each of several records, in a few round trips. What became of each, in the order of `ids`. */
export async function expireEach<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  ids: readonly string[],
): Promise<PromiseSettledResult<ExpireResult>[]> {
  const { family, records } = deps;
  const known = ids.filter((id) => isIdOf(deps, id));
  const results = new Map<string, PromiseSettledResult<ExpireResult>>();
  const moves: Move<T>[] = [];
  for (const [index, reading] of (await records.readEach(known)).entries()) {
    const id = known[index] ?? '';
    if (reading.status === 'rejected') results.set(id, reading);
    else if (reading.value.row !== undefined) {
      const { row, now } = reading.value;
      const decision = family.decide(row, { type: 'expire' }, now);
      if (decision.type === 'commit')
        moves.push({ row, step: decision.step, notes: deps.notesOn(row, decision.step.status) });
      else results.set(id, fulfilled(family.isTerminal(row.status) ? ENDED : early({ row, now })));
    }
  }
  const undecided: string[] = [];
  for (const [index, commit] of (await records.commitEach(moves)).entries()) {
    const id = moves[index]?.row.id ?? '';
    if (commit.status === 'rejected') results.set(id, commit);
    else if (commit.value.row !== undefined) {
      const { row, committed, noted } = commit.value;
      if (committed) afterCommit(deps, row, noted);
      if (committed) results.set(id, fulfilled({ type: 'expired' }));
      else if (family.isTerminal(row.status)) results.set(id, fulfilled(ENDED));
      else undecided.push(id);
    }
  }
  // Another commit was faster, or the clock of the read was another one.
  const again = await Promise.allSettled(undecided.map((id) => expire(deps, id)));
  for (const [index, result] of again.entries()) results.set(undecided[index] ?? '', result);
  return ids.map((id) => results.get(id) ?? fulfilled({ type: 'gone' }));
}

const ENDED: ExpireResult = { type: 'ended' };

function fulfilled(value: ExpireResult): PromiseFulfilledResult<ExpireResult> {
  return { status: 'fulfilled', value };
}

function early<T extends FamilyTypes>({ row, now }: SeenRecord<T>): ExpireResult {
  return { type: 'early', remainingMs: Math.max(1, row.expiresAt - now) };
}
