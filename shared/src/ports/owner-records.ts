import { ParleyError } from '@parley/core/domain/errors';
import type { Owner } from '@parley/core/domain/ids';

/** How many records of one kind an owner has at once; of workflows as many as are configured. */
export const OWNER_RECORDS_MAX = 1_000;

/** How many records an owner may have, and what happens to one more. */
export interface RecordBound {
  readonly max: number;
  /** `drop`: it takes the place of the record that expires first. `refuse`: it is refused with `workflow_quota`. */
  readonly beyond: 'drop' | 'refuse';
}

/**
 * What a record is for: a remembered approval or its revocation, a session or a call of MCP, an answer over A2A, where A2A
 * pushes go, a link or a post of Slack, what a person has seen, an entry of a workflow. Each kind has a bound of its own, so
 * that a busy one takes nothing from another.
 */
const RECORD_KINDS = ['grants', 'mcp', 'a2a', 'pushes', 'slack', 'seen', 'workflows'] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Makes the records of each kind. */
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

/** The error for an entry of a workflow that is one too many. */
export function workflowQuota(): ParleyError {
  return new ParleyError(
    'workflow_quota',
    'The workflows of this user have as many entries as they may have.',
    {
      retry: false,
    },
  );
}

/** A change of one record. */
export interface RecordChange {
  readonly name: string;
  /** The value that it must have; undefined: there must be no record. */
  readonly from?: string | undefined;
  /** Its new value, for `ttlMs`. */
  readonly to: string;
  readonly ttlMs: number;
  /** Another record of the owner, and the value that it must have. */
  readonly whilst?: { readonly name: string; readonly value: string };
}

/** A record, as a list of them has it. */
export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/**
 * Small records of one owner that a surface needs on every pod, such as the sessions of a protocol. Each has a name of
 * its own and expires. A name is found under its owner only. Every call throws `unavailable`.
 */
export interface OwnerRecords {
  /**
   * Stores `value` under `name` for `ttlMs` unless there is a record, and returns the stored value. An existing record
   * keeps its value and its time. Its bound says what happens to a record too many. Refused with `user_erased` after an
   * erasure of the owner.
   */
  putIfAbsent(owner: Owner, name: string, value: string, ttlMs: number): Promise<string>;
  /**
   * Changes a record in one step, under the conditions of the change. True when it has the new value then. A new record is
   * bounded and refused as by `putIfAbsent`.
   */
  replace(owner: Owner, change: RecordChange): Promise<boolean>;
  /** The value; undefined without a record. With `renewMs`, the record is kept for at least that long from now. */
  read(owner: Owner, name: string, renewMs?: number): Promise<string | undefined>;
  /** The clock by which the owner's records expire, in ms since 1970. */
  now(owner: Owner): Promise<number>;
  /** The owner's records whose names begin with `prefix`, those that expire first at the front. */
  list(owner: Owner, prefix: string): Promise<readonly NamedValue[]>;
  /** Removes a record, with `value` only if it has that value. True when a record was removed. */
  remove(owner: Owner, name: string, value?: string): Promise<boolean>;
  /** Removes all records of an owner. */
  removeAll(owner: Owner): Promise<void>;
}

export type OwnerRecordsByKind = Readonly<Record<RecordKind, OwnerRecords>>;
