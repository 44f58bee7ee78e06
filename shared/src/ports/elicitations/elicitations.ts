import type { FamilyTypes, RowOf, StepOf } from '@parley/core/domain/family';
import { isApprovalId, type Owner } from '@parley/core/domain/ids';
import type { ApprovalRow, ApprovalTypes } from '../../domain/approvals/types.ts';
import type { Row } from '../../domain/elicitations/row.ts';
import type { ElicitationTypes } from '../../domain/elicitations/types.ts';
import type { CommitNotes } from '../delivery/kind.ts';
import type { OutboxTask } from '../delivery/outbox.ts';
import type { ArmedDeadline } from './deadlines.ts';

/** A row, and the time at which it was read. */
export interface Reading<T extends FamilyTypes = ElicitationTypes> {
  /** Undefined when there is no such record: it was never asked, or its retention ended. */
  readonly row: RowOf<T> | undefined;
  /** Redis clock in ms at the read. */
  readonly now: number;
}

export interface CreateResult<T extends FamilyTypes = ElicitationTypes> extends Reading<T> {
  readonly row: RowOf<T>;
  /** `created`: by this call. `exists`: by an earlier call with the same id. */
  readonly outcome: 'created' | 'exists';
  /** Its deadline, when this call armed it because none, a later or a passed one was. The caller then adds the job. */
  readonly armed?: ArmedDeadline;
  /** The tasks that this call noted in the outbox. Absent when there were none. */
  readonly noted?: readonly OutboxTask[];
}

export interface CommitResult<T extends FamilyTypes = ElicitationTypes> extends Reading<T> {
  /** False when the revision was not current or the guard did not hold. `row` and `now` are then the current ones. */
  readonly committed: boolean;
  /** The tasks that the commit noted in the outbox. Absent when there were none. */
  readonly noted?: readonly OutboxTask[];
}

/** A step of one row, and what its commit notes. */
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
  /** `nextCursor` of the previous page. */
  readonly cursor?: string;
  readonly limit: number;
}

export interface RecordPage<T extends FamilyTypes = ElicitationTypes> {
  readonly rows: readonly RowOf<T>[];
  readonly nextCursor?: string;
  readonly now: number;
}

/** An idempotency key, and the elicitation that was asked with it. */
export interface AskedKey {
  readonly key: string;
  readonly elicitationId: string;
}

/** What the creation of a row records beside it. */
export interface CreateNotes extends Pick<CommitNotes, 'tasks'> {
  /** The key under which the question was asked, so that an erasure finds the claim on it. */
  readonly idempotencyKey?: string;
  /** True when the stream request was claimed for this question, so that an erasure finds the claim. */
  readonly isStreamClaimed?: boolean;
}

/**
 * The rows of one family. Every change is one atomic step that also appends to the stream request's feed, updates the
 * inbox, the history and the deadline index, notes tasks in the outbox, and publishes the wakes last. Both families share
 * the inbox, the history, the deadline index and the limits of an owner.
 */
export interface Records<T extends FamilyTypes> {
  /**
   * Creates the row unless `id` exists, and sets its createdAt and expiresAt. Undefined when the owner has too many
   * open records, or they are too large together. Notes in the outbox, if this call created the row, the tasks of
   * `notes` and those of the kinds that are subscribed to its turn.
   * Throws `user_erased`.
   */
  create(id: string, definition: T['definition'], notes?: CreateNotes): Promise<CreateResult<T> | undefined>;
  /** Reads one row and the clock in one atomic step. */
  read(id: string): Promise<Reading<T>>;
  /**
   * As `read` for several ids of any owners, in a few round trips. What became of each read, in the order of `ids`.
   */
  readEach(ids: readonly string[]): Promise<PromiseSettledResult<Reading<T>>[]>;
  /**
   * Applies `step` if the row with this `revision` and `createdAt` is still current and the step's guard holds on the Redis
   * clock. It then notes in
   * the outbox the tasks of `notes`, those of the kinds that are subscribed to its turn and, when the step ends the
   * record, the tasks of the runs that wait for its end.
   */
  commit(row: RowOf<T>, step: StepOf<T>, notes?: CommitNotes): Promise<CommitResult<T>>;
  /** As `commit` for several rows of any owners, in a few round trips. What became of each, in the order of `moves`. */
  commitEach(moves: readonly Move<T>[]): Promise<PromiseSettledResult<CommitResult<T>>[]>;
  /**
   * An owner's records, newest first. Ended ones are listed within their retention and the bound of the history. A page
   * may have fewer rows than `limit` although a next one follows: its bytes are bounded, too.
   */
  page(request: PageRequest<T>): Promise<RecordPage<T>>;
}

/** The rows of approvals. */
export type Approvals = Records<ApprovalTypes>;

/** A row of any family. */
export type StoredRecord =
  | { readonly family: 'elicitation'; readonly row: Row }
  | { readonly family: 'approval'; readonly row: ApprovalRow };

/** A row with its family, which its id names. */
export function storedRecordOf(row: RowOf<FamilyTypes>): StoredRecord {
  // The id is the only thing that tells the types apart. A record of an older build is an elicitation.
  return isApprovalId(row.id)
    ? { family: 'approval', row: row as ApprovalRow }
    : { family: 'elicitation', row: row as Row };
}

export interface StoredPage {
  readonly records: readonly StoredRecord[];
  readonly nextCursor?: string;
  readonly now: number;
}

/** Reads rows of all families together. */
export interface StoredRecords {
  /** Rows of any owners, in the order of `ids`. `now` is the time of the earliest read. */
  readMany(ids: readonly string[]): Promise<{ records: (StoredRecord | undefined)[]; now: number }>;
  /** An owner's open records, newest first, as `Records.page`. */
  openPage(request: Omit<PageRequest, 'statuses'>): Promise<StoredPage>;
}

/** The rows of elicitations, and the deadline index of all families. */
export interface Elicitations extends Records<ElicitationTypes> {
  /**
   * Ids of one bucket whose deadline passed at least `overdueMs` ago on the Redis clock (0 when absent), oldest first, without
   * the first `skip`.
   */
  due(bucket: number, limit: number, skip?: number, overdueMs?: number): Promise<string[]>;
  /** The buckets whose deadline index lists anything, in parts that fail and hang by themselves. */
  occupied(): readonly Promise<readonly number[]>[];
  /**
   * Arms the earliest deadline in the index of a bucket, without the first `skip`. A deadline that is armed, has not passed
   * and comes no later stays armed. Returns the armed deadline; undefined when there is none.
   */
  arm(bucket: number, skip?: number): Promise<ArmedDeadline | undefined>;
  /** Notes for so many ms that a pod expires records whose timers have fired together, so that other processes leave them to it. */
  noteExpiring(forMs: number): Promise<void>;
  /** True while such a note of any pod holds. */
  isExpiring(): Promise<boolean>;
  /** Sets how long an ended row is kept, in ms from now. An open row is not changed. */
  keep(id: string, forMs: number): Promise<void>;
  /**
   * Removes an entry without an open row from the deadline index of a bucket. A write that was lost may have caused it. The
   * entry may be in the wrong bucket, or no id at all.
   */
  forget(bucket: number, id: string): Promise<void>;
}
