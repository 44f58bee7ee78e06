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
 * Creates a record and arms its deadline, or finds the one that has the id. Throws `rate_limited` when the owner has too
 * many open records, and `user_erased`.
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
  // Without a key nobody else knows the id: it exists because the store ran this very call twice.
  if (outcome === 'created' || notes.idempotencyKey === undefined) observer.asked(row);
  // On a replay too: the process of the first ask may be gone.
  if (!family.isTerminal(row.status)) timers?.schedule(id, Math.max(0, row.expiresAt - now));
  deps.known.note({ row, now });
  addArmed(engine, armed);
  return created;
}

/** The parts of a row that the commit sets. */
const DRAFT = { revision: 1, createdAt: 0, expiresAt: 0 } as const;

/** Adds the job of a deadline that the commit has armed. Not awaited: the index, written in the commit, is the promise. */
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
