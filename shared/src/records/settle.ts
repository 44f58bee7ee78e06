import { ParleyError } from '@parley/core/domain/errors';
import type { CommonCommand, FamilyTypes, Refusal, RowOf } from '@parley/core/domain/family';
import { type Caller, maySee, notFound } from '../domain/caller.ts';
import type { OutboxTask } from '../ports/delivery/outbox.ts';
import { recordEnded } from './ended.ts';
import { type RecordDeps, refusedWith } from './family-deps.ts';
import { readRecord, type SeenRecord } from './read.ts';

// Each lost race means that another commit moved the row, and a row moves only a few times. Only operators may move its
// deadline more often.
const ROUNDS_MAX = 8;

/**
 * The only way to move a row: decides on the row as read, commits, and decides again when another commit came first. Returns
 * the row after the command, or throws the refusal. A trial throws the same refusals, but commits nothing and returns the row
 * before the command.
 */
export async function settle<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  { caller, isTrial = false }: { readonly caller: Caller; readonly isTrial?: boolean | undefined },
  read: SeenRecord<T>,
  command: T['command'] | CommonCommand,
): Promise<SeenRecord<T>> {
  const { family, records } = deps;
  let seen = read;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const decision = family.decide(seen.row, command, seen.now);
    if (mustBeRead(seen, decision.type === 'commit' && !isTrial)) {
      deps.known.remove(seen.row.id);
      seen = await readRecord(deps, caller, seen.row.id);
      deps.known.note(seen);
      continue;
    }
    if (decision.type === 'unchanged') return seen;
    if (decision.type === 'refused') throw refusalOf(deps, decision.refusal, caller, seen);
    if (isTrial && decision.type === 'commit') return seen;
    const notes = deps.notesOn(seen.row, decision.step.status);
    const result = await records.commit(seen.row, decision.step, notes);
    if (result.row === undefined) deps.known.remove(seen.row.id);
    if (result.row === undefined || !maySee(caller, result.row)) throw notFound();
    seen = { row: result.row, now: result.now };
    deps.known.note(seen);
    if (!result.committed) continue;
    afterCommit(deps, seen.row, result.noted);
    if (decision.type === 'commit') return seen;
  }
  throw new Error(`The ${family.noun} ${read.row.id} cannot be moved: its row is damaged.`);
}

/** True for a cached row when no commit follows that would check whether it is current. */
function mustBeRead({ isKnown }: SeenRecord<FamilyTypes>, commits: boolean): boolean {
  return isKnown === true && !commits;
}

/** What a process does after its commit has moved a row. `noted` are the tasks that the commit noted in the outbox. */
export function afterCommit<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  row: RowOf<T>,
  noted: readonly OutboxTask[] = [],
): void {
  for (const task of noted) void deps.deliverNow(task);
  if (!deps.family.isTerminal(row.status)) return;
  deps.observer.settled(row);
  recordEnded(deps, row.id);
}

function refusalOf<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  refusal: Refusal,
  caller: Caller,
  { row, now }: SeenRecord<T>,
): ParleyError {
  switch (refusal.code) {
    case 'invalid_request':
      return new ParleyError('invalid_request', refusal.message);
    case 'invalid_answer':
      return new ParleyError('invalid_answer', refusal.message, {
        issues: refusal.issues,
      });
    default:
      return refusedWith(deps, refusal, deps.family.toWire(row, { now, content: maySee(caller, row) }));
  }
}
