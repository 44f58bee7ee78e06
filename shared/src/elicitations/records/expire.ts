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

/**
 * As `expire` for each of several records, in a few round trips for all of them. The results have the order of `ids`.
 * Rejects when one of them cannot be expired; others may then have been.
 */
export async function expireMany<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  ids: readonly string[],
): Promise<ExpireResult[]> {
  const { family, records } = deps;
  const known = ids.filter((id) => isIdOf(deps, id));
  const { rows, now } = await records.readMany(known);
  const results = new Map<string, ExpireResult>();
  const moves: Move<T>[] = [];
  for (const row of rows) {
    if (row === undefined) continue;
    const decision = family.decide(row, { type: 'expire' }, now);
    if (decision.type === 'commit') {
      const { step } = decision;
      moves.push({ row, step, notes: deps.notesOn(row, step.status) });
    } else results.set(row.id, family.isTerminal(row.status) ? { type: 'ended' } : early({ row, now }));
  }
  const commits = await records.commitMany(moves);
  for (const [index, { row, committed, noted }] of commits.entries()) {
    const id = moves[index]?.row.id ?? '';
    if (committed && row !== undefined) {
      afterCommit(deps, row, noted);
      results.set(id, { type: 'expired' });
    } else if (row !== undefined) {
      // Another commit was faster, or the clock of the read was another one.
      results.set(id, family.isTerminal(row.status) ? { type: 'ended' } : await expire(deps, id));
    }
  }
  return ids.map((id) => results.get(id) ?? { type: 'gone' });
}

function early<T extends FamilyTypes>({ row, now }: SeenRecord<T>): ExpireResult {
  return { type: 'early', remainingMs: Math.max(1, row.expiresAt - now) };
}
