import { type Row, toWire } from '../domain/elicitations/row.ts';
import { isTerminal } from '../domain/elicitations/status.ts';
import { type Command, type Refusal, transition } from '../domain/elicitations/transition.ts';
import { ParleyError } from '../domain/errors.ts';
import { type Caller, maySee, notFound, type Seen } from './caller.ts';
import type { EngineDeps } from './deps.ts';

// Each lost race means that another commit moved the row, and a row moves at most three times.
const ROUNDS_MAX = 8;

/**
 * The only way to move a row: decides on the row as read, commits, and decides again when another commit was faster.
 * Returns the row after the command; throws the refusal otherwise.
 */
export async function settle(deps: EngineDeps, caller: Caller, read: Seen, command: Command): Promise<Seen> {
  let seen = read;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const decision = transition(seen.row, command, seen.now);
    if (decision.type === 'unchanged') return seen;
    if (decision.type === 'refused') throw refusalOf(decision.refusal, caller, seen);
    const { id, definition } = seen.row;
    const notes = deps.deliveries.notesOn({ id, definition, status: decision.step.status });
    const result = await deps.elicitations.commit(seen.row, decision.step, notes);
    if (result.row === undefined || !maySee(caller, result.row)) throw notFound();
    seen = { row: result.row, now: result.now };
    if (!result.committed) continue;
    for (const task of result.noted ?? []) void deps.deliveries.now(task);
    if (isTerminal(seen.row.status)) afterSettling(deps, seen.row);
    if (decision.type === 'commit') return seen;
  }
  throw new Error(`The elicitation ${read.row.id} cannot be moved: its row is damaged.`);
}

function afterSettling(deps: EngineDeps, row: Row): void {
  deps.observer.settled(row);
  deps.timers?.cancel(row.id);
}

function refusalOf(refusal: Refusal, caller: Caller, { row, now }: Seen): ParleyError {
  switch (refusal.code) {
    case 'invalid_request':
      return new ParleyError('invalid_request', refusal.message);
    case 'invalid_answer':
      return new ParleyError('invalid_answer', refusal.message, {
        issues: refusal.issues,
      });
    default:
      return new ParleyError(refusal.code, refusal.message, {
        elicitation: toWire(row, { now, content: maySee(caller, row) }),
      });
  }
}
