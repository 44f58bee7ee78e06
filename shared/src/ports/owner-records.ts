import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';

/** The maximum number of records of one kind per owner. The maximum for workflows is configured instead. */
export const OWNER_RECORDS_MAX = 1_000;

/** The maximum number of an owner's records, and what happens beyond it. */
export interface RecordBound {
  readonly max: number;
  /** `drop`: a new record replaces the one that expires first. `refuse`: a new record is refused with `workflow_quota`. */
  readonly beyond: 'drop' | 'refuse';
}

/**
 * The kinds of records: remembered approvals and their revocations; sessions and calls of MCP; answers over A2A; push targets
 * of A2A; links and posts of Slack; what a person has seen; entries of workflows. Each kind has its own maximum, so that a busy
 * kind takes no room from another.
 */
const RECORD_KINDS = ['grants', 'mcp', 'a2a', 'pushes', 'slack', 'seen', 'workflows'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Makes one set of records for each kind. */
export function recordsByKind(
  workflowEntriesMax: number,
  create: (kind: RecordKind, bound: RecordBound) => OwnerRecords,
): OwnerRecordsByKind {
  const bounded = (kind: RecordKind) =>
    create(
      kind,
      kind === 'workflows'
        ? { max: workflowEntriesMax, beyond: 'refuse' }
        : { max: OWNER_RECORDS_MAX, beyond: 'drop' },
    );
  return Object.fromEntries(
    RECORD_KINDS.map((kind) => [kind, bounded(kind)]),
  ) as unknown as OwnerRecordsByKind;
}

/** The error for a workflow entry beyond the quota. */
export function workflowQuota(): ParleyError {
  return new ParleyError(
    'workflow_quota',
    'The workflows of this user have as many entries as they may have.',
    {
      retry: false,
    },
  );
}

/** A conditional change of one record. */
export interface RecordChange {
  readonly name: string;
  /** The value that the record must have; undefined means that no record may exist. */
  readonly from?: string | undefined;
  /** The new value, kept for `ttlMs`. */
  readonly to: string;
  readonly ttlMs: number;
  /** Another record of the owner, and the value that it must have. */
  readonly whilst?: { readonly name: string; readonly value: string };
}

/** A record in a list. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/**
 * Small records of one owner that a surface needs on every pod, such as the sessions of a protocol. Each has a name, which only
 * exists under its owner, and expires. Every method throws `unavailable`.
 */
export interface OwnerRecords {
  /**
   * Stores `value` under `name` for `ttlMs` unless there is a record, and returns the stored value. An existing record keeps
   * its value and its time. The kind's bound applies. After an erasure of the owner, throws `user_erased`.
   */
  putIfAbsent(owner: Owner, name: string, value: string, ttlMs: number): Promise<string>;
  /**
   * Changes a record in one step if the conditions of the change hold. True when the record then has the new value. For a new
   * record, the same limits and refusals apply as in `putIfAbsent`.
   */
  replace(owner: Owner, change: RecordChange): Promise<boolean>;
  /** The value, or undefined when there is no record. With `renewMs`, the record is kept for at least that long from now. */
  read(owner: Owner, name: string, renewMs?: number): Promise<string | undefined>;
  /** The clock by which the owner's records expire, in ms since 1970. */
  now(owner: Owner): Promise<number>;
  /** The owner's records whose names begin with `prefix`, in the order in which they expire. */
  list(owner: Owner, prefix: string): Promise<readonly NamedValue[]>;
  /** Removes a record, with `value` only if it has that value. True when a record was removed. */
  remove(owner: Owner, name: string, value?: string): Promise<boolean>;
  /** Removes all records of an owner. */
  removeAll(owner: Owner): Promise<void>;
}

export type OwnerRecordsByKind = Readonly<Record<RecordKind, OwnerRecords>>;
