import { ParleyError } from '@parley/core/domain/errors';
import type { FamilyTypes } from '@parley/core/domain/family';
import type { ArmedDeadline } from '../ports/elicitations/deadlines.ts';
import type { CreateNotes, CreateResult } from '../ports/elicitations/elicitations.ts';
import type { EngineDeps } from './deps.ts';
import { addJob } from './expire-due.ts';
import type { RecordDeps } from './family-deps.ts';

interface NewRecord<T extends FamilyTypes> {
  readonly id: string;
  readonly definition: T['definition'];
  readonly notes: Omit<CreateNotes, 'tasks'>;
}

/**
 * Creates a record and arms its deadline, or finds the existing one with this id. Throws `rate_limited` when the owner has too
 * many open records, or `user_erased`.
 */
export async function createRecord<T extends FamilyTypes>(
  engine: Pick<EngineDeps, 'deadlineJobs' | 'observer'>,
  deps: RecordDeps<T>,
  { id, definition, notes }: NewRecord<T>,
): Promise<CreateResult<T>> {
  const { family, records, observer, timers } = deps;
  const { tasks } = deps.notesOn(
    { ...DRAFT, id, definition, status: family.initialStatus },
    family.initialStatus,
  );
  const created = await records.create(id, definition, { ...notes, tasks });
  if (created === undefined) throw tooManyOpen(engine);
  const { row, now, outcome, armed } = created;
  for (const task of created.noted ?? []) void deps.deliverNow(task);
  // Without an idempotency key, nobody else knows the id, so `exists` means that the store ran this call twice.
  if (outcome === 'created' || notes.idempotencyKey === undefined) observer.asked(row);
  // The timer is set on a replay too, because the process of the first ask may have died.
  if (!family.isTerminal(row.status)) timers?.schedule(id, Math.max(0, row.expiresAt - now));
  deps.known.note({ row, now });
  addArmed(engine, armed);
  return created;
}

/** Placeholders for the parts of a row that the commit sets. */
const DRAFT = { revision: 1, createdAt: 0, expiresAt: 0 } as const;

/**
 * Adds the job of a deadline that the commit armed. This is not awaited, because the deadline index, written in the commit, is
 * the guarantee.
 */
function addArmed(
  engine: Pick<EngineDeps, 'deadlineJobs' | 'observer'>,
  armed: ArmedDeadline | undefined,
): void {
  if (armed !== undefined) void addJob(engine, armed);
}

function tooManyOpen({ observer }: Pick<EngineDeps, 'observer'>): ParleyError {
  observer.tooManyOpen();
  return new ParleyError(
    'rate_limited',
    'This user has too many or too large open questions; settle or withdraw some.',
    { retryAfterSeconds: 10 },
  );
}
