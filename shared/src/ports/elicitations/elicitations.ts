/**
 * The ports that store elicitations and approvals, with the guarantees that both back ends must give. Rules about moves are not
 * here: a step arrives decided, and a commit only checks that it still applies.
 */

import type { FamilyTypes, RowOf, StepOf } from '@parley/core/domain/family';
import { isApprovalId, type Owner } from '@parley/core/domain/ids';
import type { ApprovalRow, ApprovalTypes } from '../../domain/approvals/types.ts';
import type { Row } from '../../domain/elicitations/row.ts';
import type { ElicitationTypes } from '../../domain/elicitations/types.ts';
import type { CommitNotes } from '../delivery/kind.ts';
import type { OutboxTask } from '../delivery/outbox.ts';
import type { ArmedDeadline } from './deadlines.ts';

/** A row, and the time of the read. */
export interface Reading<T extends FamilyTypes = ElicitationTypes> {
  /** Undefined when there is no such record: it never existed, or its retention ended. */
  readonly row: RowOf<T> | undefined;
  /** The Redis clock in ms at the read. */
  readonly now: number;
}

export interface CreateResult<T extends FamilyTypes = ElicitationTypes> extends Reading<T> {
  readonly row: RowOf<T>;
  /** `created`: this call created the row. `exists`: an earlier call with the same id did. */
  readonly outcome: 'created' | 'exists';
  /**
   * The row's deadline, if this call armed it because no deadline was armed, or only a later or passed one. The caller then
   * adds the job.
   */
  readonly armed?: ArmedDeadline;
  /** The tasks that this call noted in the outbox. Absent when there were none. */
  readonly noted?: readonly OutboxTask[];
}

export interface CommitResult<T extends FamilyTypes = ElicitationTypes> extends Reading<T> {
  /** False when the row had another revision or the guard did not hold. `row` and `now` are then the current ones. */
  readonly committed: boolean;
  /** The tasks that the commit noted in the outbox. Absent when there were none. */
  readonly noted?: readonly OutboxTask[];
}

/** A step of one row, and the notes of its commit. */
export interface Move<T extends FamilyTypes = ElicitationTypes> {
  readonly row: RowOf<T>;
  readonly step: StepOf<T>;
  readonly notes: CommitNotes;
}

export interface PageRequest<T extends FamilyTypes = ElicitationTypes> {
  readonly owner: Owner;
  /** Only records with these statuses; all when absent. */
  readonly statuses?: readonly T['status'][];
  readonly conversationId?: string;
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string;
  readonly limit: number;
}

export interface RecordPage<T extends FamilyTypes = ElicitationTypes> {
  readonly rows: readonly RowOf<T>[];
  readonly nextCursor?: string;
  readonly now: number;
}

/** An idempotency key, and the elicitation that was asked under it. */
export interface AskedKey {
  readonly key: string;
  readonly elicitationId: string;
}

/** What the creation of a row records in addition to the row. */
export interface CreateNotes extends Pick<CommitNotes, 'tasks'> {
  /** The key under which the question was asked, recorded so that an erasure finds the claim on it. */
  readonly idempotencyKey?: string;
  /** True when the stream request was claimed for this question; an erasure then finds that claim. */
  readonly isStreamClaimed?: boolean;
}

/**
 * The rows of one family. Every change is one atomic step that also appends to the stream request's feed, updates the inbox,
 * the history and the deadline index, notes tasks in the outbox, and publishes the wakes last. The families share the inbox,
 * the history, the deadline index and the limits of an owner.
 */
export interface Records<T extends FamilyTypes> {
  /**
   * Creates the row unless `id` exists, and sets its createdAt and expiresAt. Undefined when the owner's open records are too
   * many, or too large together. A call that creates the row also notes the tasks of `notes`, and those of the kinds subscribed
   * to the row's turn. Throws `user_erased`.
   */
  create(id: string, definition: T['definition'], notes?: CreateNotes): Promise<CreateResult<T> | undefined>;
  /** Reads one row and the clock in one atomic step. */
  read(id: string): Promise<Reading<T>>;
  /** The same as `read` for several ids of any owners, in a few round trips. The results are in the order of `ids`. */
  readEach(ids: readonly string[]): Promise<PromiseSettledResult<Reading<T>>[]>;
  /**
   * Applies `step` if the row still has this `revision` and `createdAt`, and the step's guard holds on the Redis clock. The
   * commit notes the tasks of `notes` and those of the kinds subscribed to the row's turn. If the step ends the record, it also
   * notes the tasks of the runs that wait for that.
   */
  commit(row: RowOf<T>, step: StepOf<T>, notes?: CommitNotes): Promise<CommitResult<T>>;
  /** The same as `commit` for several rows of any owners, in a few round trips. The results are in the order of `moves`. */
  commitEach(moves: readonly Move<T>[]): Promise<PromiseSettledResult<CommitResult<T>>[]>;
  /**
   * An owner's records, newest first. Ended ones are listed within their retention and the limit of the history. A page may
   * have fewer rows than `limit` even if another page follows, because its bytes are limited too.
   */
  page(request: PageRequest<T>): Promise<RecordPage<T>>;
}

/** The rows of approvals. */
export type Approvals = Records<ApprovalTypes>;

/** A row of any family. */
export type StoredRecord =
  | { readonly family: 'elicitation'; readonly row: Row }
  | { readonly family: 'approval'; readonly row: ApprovalRow };

/** Adds the family to a row; the id names it. */
export function storedRecordOf(row: RowOf<FamilyTypes>): StoredRecord {
  // Only the prefix of the id distinguishes the types. A record of an older build is an elicitation.
  return isApprovalId(row.id)
    ? { family: 'approval', row: row as ApprovalRow }
    : { family: 'elicitation', row: row as Row };
}

export interface StoredPage {
  readonly records: readonly StoredRecord[];
  readonly nextCursor?: string;
  /** The time of the store, in ms; may be 0 if there are no records. */
  readonly now: number;
}

/** Reads rows of all families together. */
export interface StoredRecords {
  /** Reads rows of any owners, in the order of `ids`. `now` is the time of the earliest read. */
  readMany(ids: readonly string[]): Promise<{ records: (StoredRecord | undefined)[]; now: number }>;
  /** An owner's open records, newest first, in pages like those of `Records.page`. */
  openPage(request: Omit<PageRequest, 'statuses'>): Promise<StoredPage>;
}

/** The rows of elicitations, and the deadline index of all families. */
export interface Elicitations extends Records<ElicitationTypes> {
  /**
   * The ids of one bucket whose deadlines passed at least `overdueMs` ago (0 when absent) on the Redis clock, oldest first,
   * without the first `skip`.
   */
  due(bucket: number, limit: number, skip?: number, overdueMs?: number): Promise<string[]>;
  /** The buckets with entries in their deadline index. Each part of the result may fail or hang independently. */
  occupied(): readonly Promise<readonly number[]>[];
  /**
   * Arms the earliest deadline in a bucket's index, after the first `skip` entries. An armed deadline that has not passed and
   * is not later stays armed. Returns the armed deadline; undefined when there is none.
   */
  arm(bucket: number, skip?: number): Promise<ArmedDeadline | undefined>;
  /** Notes for `forMs` that a pod is expiring several records whose timers fired, so that other processes leave them to it. */
  noteExpiring(forMs: number): Promise<void>;
  /** True while a note of `noteExpiring`, from any pod, is valid. */
  isExpiring(): Promise<boolean>;
  /** Sets how long an ended row is kept, in ms from now. An open row is unchanged. */
  keep(id: string, forMs: number): Promise<void>;
  /**
   * Removes an entry without an open row from a bucket's deadline index. A lost write may have left such an entry. The entry
   * may be in the wrong bucket, or not be an id at all.
   */
  forget(bucket: number, id: string): Promise<void>;
}
