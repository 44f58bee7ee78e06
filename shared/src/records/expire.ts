/**
 * Expiring records whose deadline has passed, one or many at a time. Who calls it and when (timers, jobs, waiters, sweeps) is
 * decided elsewhere.
 */

import type { FamilyTypes } from '@parley/core/domain/family';
import type { Move } from '../ports/elicitations/elicitations.ts';
import type { RecordDeps } from './family-deps.ts';
import { isIdOf, type SeenRecord } from './read.ts';
import { afterCommit, settle } from './settle.ts';

export type ExpireResult =
  | { readonly type: 'expired' }
  /** The record had already ended. */
  | { readonly type: 'ended' }
  /** The record is not due yet on the Redis clock. Call again in `remainingMs`. */
  | { readonly type: 'early'; readonly remainingMs: number }
  /** The record does not exist. */
  | { readonly type: 'gone' };

/** Expires a record whose deadline has passed on the Redis clock, and leaves any other record unchanged. */
export async function expire<T extends FamilyTypes>(deps: RecordDeps<T>, id: string): Promise<ExpireResult> {
  const { family, records } = deps;
  if (!isIdOf(deps, id)) return { type: 'gone' };
  const { row, now } = await records.read(id);
  if (row === undefined) return { type: 'gone' };
  if (family.isTerminal(row.status)) return { type: 'ended' };
  const caller = { kind: 'service', tenant: row.definition.tenant } as const;
  const after = await settle(deps, { caller }, { row, now }, { type: 'expire' });
  if (family.isTerminal(after.row.status)) {
    return { type: after.row.status === 'expired' ? 'expired' : 'ended' };
  }
  return early(after);
}

/** The same as `expire` for several records, in a few round trips. The results are in the order of `ids`. */
export async function expireEach<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  ids: readonly string[],
): Promise<PromiseSettledResult<ExpireResult>[]> {
  const results: Results = new Map();
  const known = ids.filter((id) => isIdOf(deps, id));
  const moves = await readMoves(deps, known, results);
  const undecided = await commitMoves(deps, moves, results);
  const again = await Promise.allSettled(undecided.map((id) => expire(deps, id)));
  for (const [index, result] of again.entries()) results.set(undecided[index] ?? '', result);
  return ids.map((id) => results.get(id) ?? fulfilled({ type: 'gone' }));
}

/** Results by id. A record that does not exist has none. */
type Results = Map<string, PromiseSettledResult<ExpireResult>>;

/** Returns the moves of the records that are due, and adds results for the others. Reads the records that are not cached. */
async function readMoves<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  ids: readonly string[],
  results: Results,
): Promise<Move<T>[]> {
  const { family, known } = deps;
  const moves: Move<T>[] = [];
  const move = ({ row, now }: SeenRecord<T>): boolean => {
    const decision = family.decide(row, { type: 'expire' }, now);
    if (decision.type !== 'commit') return false;
    moves.push({ row, step: decision.step, notes: deps.notesOn(row, decision.step.status) });
    return true;
  };
  const unread = ids.filter((id) => {
    const seen = known.find(id);
    return seen === undefined || !move(seen);
  });
  const readings = unread.length === 0 ? [] : await deps.records.readEach(unread);
  for (const [index, reading] of readings.entries()) {
    if (reading.status === 'rejected') {
      results.set(unread[index] ?? '', reading);
      continue;
    }
    const { row, now } = reading.value;
    if (row === undefined) continue;
    if (!move({ row, now }))
      results.set(row.id, fulfilled(family.isTerminal(row.status) ? ENDED : early({ row, now })));
  }
  return moves;
}

/** Commits moves and adds their results. Returns the ids of records that are open but differ from the row that was read. */
async function commitMoves<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  moves: readonly Move<T>[],
  results: Results,
): Promise<string[]> {
  const undecided: string[] = [];
  for (const [index, commit] of (await deps.records.commitEach(moves)).entries()) {
    const id = moves[index]?.row.id ?? '';
    deps.known.remove(id);
    if (commit.status === 'rejected') {
      results.set(id, commit);
      continue;
    }
    const { row, committed, noted } = commit.value;
    if (row === undefined) continue;
    if (committed) {
      afterCommit(deps, row, noted);
      results.set(row.id, fulfilled({ type: 'expired' }));
    } else if (deps.family.isTerminal(row.status)) results.set(row.id, fulfilled(ENDED));
    // Another commit came first, or the server of the commit has another clock than that of the read.
    else undecided.push(row.id);
  }
  return undecided;
}

const ENDED: ExpireResult = { type: 'ended' };

function fulfilled(value: ExpireResult): PromiseFulfilledResult<ExpireResult> {
  return { status: 'fulfilled', value };
}

function early<T extends FamilyTypes>({ row, now }: SeenRecord<T>): ExpireResult {
  return { type: 'early', remainingMs: Math.max(1, row.expiresAt - now) };
}
