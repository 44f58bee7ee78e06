import { type ErrorCode, type ErrorExtras, ParleyError } from '@parley/core/domain/errors';
import type { Family, FamilyTypes, RowOf } from '@parley/core/domain/family';
import { APPROVALS } from '../domain/approvals/family.ts';
import type { ApprovalTypes } from '../domain/approvals/types.ts';
import { ELICITATIONS } from '../domain/elicitations/family.ts';
import type { ElicitationTypes } from '../domain/elicitations/types.ts';
import type { CommitNotes, Deliveries } from '../ports/delivery/kind.ts';
import type { Records } from '../ports/elicitations/elicitations.ts';
import type { RecordObserver } from '../ports/elicitations/observer.ts';
import type { Timers } from '../ports/timers.ts';
import type { EngineDeps, EngineSettings } from './deps.ts';
import type { KnownRows } from './known-rows.ts';
import { createRecordWakes, type RecordWakes } from './record-wakes.ts';

/** What the use cases common to all families need of one family. */
export interface RecordDeps<T extends FamilyTypes> {
  readonly family: Family<T>;
  readonly records: Records<T>;
  readonly wakes: RecordWakes<T>;
  readonly known: KnownRows<T>;
  readonly observer: RecordObserver<T>;
  readonly timers?: Timers;
  readonly settings: Pick<EngineSettings, 'graceMs' | 'recheckMs'>;
  /** The outbox notes of the commit that moves a record into `status`. */
  notesOn(row: RowOf<T>, status: T['status']): CommitNotes;
  deliverNow: Deliveries['now'];
  /** The current record in the form that an error shows it. */
  shownInError(wire: T['wire']): ErrorExtras;
}

/** The dependencies of use cases for records of any family. */
export interface FamiliesDeps extends EngineDeps {
  readonly families: {
    readonly questions: RecordDeps<ElicitationTypes>;
    readonly approvals: RecordDeps<ApprovalTypes>;
  };
}

/** The dependencies of one family, for elicitations. */
export function elicitationDeps(
  deps: EngineDeps,
  known: KnownRows<ElicitationTypes>,
): RecordDeps<ElicitationTypes> {
  const { elicitations, wakes, observer, timers, settings, deliveries } = deps;
  return {
    family: ELICITATIONS,
    records: elicitations,
    wakes: createRecordWakes(wakes, ELICITATIONS),
    known,
    observer,
    ...(timers !== undefined && { timers }),
    settings,
    notesOn: ({ id, definition }, status) => deliveries.notesOn({ id, definition, status }),
    deliverNow: (task) => deliveries.now(task),
    shownInError: (elicitation) => ({ elicitation }),
  };
}

/** The dependencies of one family, for approvals. */
export function approvalDeps(deps: EngineDeps, known: KnownRows<ApprovalTypes>): RecordDeps<ApprovalTypes> {
  const { approvals, approvalWakes, observer, timers, settings, deliveries } = deps;
  return {
    family: APPROVALS,
    records: approvals,
    wakes: createRecordWakes(approvalWakes, APPROVALS),
    known,
    observer: observer.approvals,
    ...(timers !== undefined && { timers }),
    settings,
    notesOn: ({ id, definition }, status) => deliveries.notesOnApproval({ id, definition, status }),
    deliverNow: (task) => deliveries.now(task),
    shownInError: (approval) => ({ approval }),
  };
}

/** A refusal that shows the current record. */
export function refusedWith<T extends FamilyTypes>(
  deps: RecordDeps<T>,
  { code, message }: { readonly code: ErrorCode; readonly message: string },
  wire: T['wire'],
): ParleyError {
  return new ParleyError(code, message, deps.shownInError(wire));
}
