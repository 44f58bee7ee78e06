import { type Owner, parseStreamPath, type StreamRef } from '@parley/core/domain/ids';

/**
 * Something that must happen after a commit, noted in the outbox by that commit. Two tasks with the same kind, subject
 * and version are one task.
 */
export interface OutboxTask {
  /** Name of the delivery kind that handles it. */
  readonly kind: string;
  /** What the task is about: the id of a record, or the path of a turn (`formatStreamPath`) and what its kind adds; holds no white space. */
  readonly subject: string;
  /** Version of the subject that the task is for: a whole number. Absent for kinds whose subjects have none. */
  readonly version?: number;
  /** Bucket (0 to 63) of the owner that the subject belongs to. */
  readonly bucket: number;
}

/** The turn with whose path a subject begins; undefined for the id of a record. */
export function streamOfSubject(subject: string): StreamRef | undefined {
  return parseStreamPath(subject.split('/', 3).join('/'));
}

/** A task that was leased. */
export interface OutboxEntry {
  readonly task: OutboxTask;
  /** Number of this attempt, from 1. A lease whose holder died before it reported does not count. */
  readonly attempt: number;
  /** Fencing token of this lease: a report that carries an older token has no effect. */
  readonly lease: number;
  /** The tenant in whose list of deliveries it is; absent where it is in none. */
  readonly tenant?: string;
}

/** Why an attempt failed: a stable code, never a text of others. */
export interface DeliveryFailure {
  readonly code: string;
  /** HTTP status of the receiver's reply, if it replied. */
  readonly status?: number;
}

/** How an outstanding task stands. */
export interface OutboxStanding {
  /** In how many ms it is due, at the end of its lease if it is leased; 0 when it is. */
  readonly dueInMs: number;
  /** How many attempts have failed. */
  readonly attempts: number;
  readonly isLeased: boolean;
  /** Why the last attempt failed or was put off, if its handler said so. */
  readonly failure?: DeliveryFailure;
}

/** How tasks stand, in their order, by the clock of the store (ms). */
interface OutboxStandings {
  readonly now: number;
  readonly standings: readonly (OutboxStanding | undefined)[];
}

/**
 * What a handler reports. `done`: the task is removed. `retryInMs`: the attempt failed, and the task is due again after
 * that many ms. `deferInMs`: no attempt was made, and the task is due again after that many ms; this does not count as
 * an attempt. `restInMs`: all is delivered, and more may follow: the task is due again after that many ms, as one that was
 * never tried, and is in no list of deliveries until it is noted again.
 */
export type OutboxResult =
  | 'done'
  | { readonly retryInMs: number; readonly failure?: DeliveryFailure }
  | { readonly deferInMs: number; readonly failure?: DeliveryFailure }
  | { readonly restInMs: number };

/** Free places by delivery kind: at most that many tasks of the kind are leased. */
export type OutboxRoom = Readonly<Record<string, number>>;

/** A task of a bucket is due in so many ms; or (`resync`) messages about the bucket may have been missed. */
export type OutboxSignal =
  | { readonly type: 'due'; readonly bucket: number; readonly inMs: number }
  | { readonly type: 'resync'; readonly bucket: number };

/**
 * The tasks that are outstanding, by bucket. A task stays until it is done. It is leased to one process at a time: what
 * notes it again during a lease, a commit or `add`, takes effect once that lease has been reported on or has
 * lapsed, and leads to exactly one more. Every call throws `unavailable`.
 */
export interface Outbox {
  /**
   * Notes a task outside of a commit. It is due at once unless it is leased, and its attempts are counted from 1 again. With a
   * tenant, it is in the tenant's list of deliveries (`TenantLists`) until it is done, as those of commits are.
   */
  add(task: OutboxTask, tenant?: string): Promise<void>;
  /**
   * Leases tasks of a bucket that are due on the Redis clock: of each kind in `room` at most so many, the longest
   * due first. The same tasks are not leased again for `leaseMs`.
   */
  take(bucket: number, room: OutboxRoom, leaseMs: number): Promise<readonly OutboxEntry[]>;
  /** The buckets with tasks of these kinds, due or not, in parts that fail and hang by themselves. */
  occupied(kinds: readonly string[]): readonly Promise<readonly number[]>[];
  /** Leases this task, if it is due and not leased. */
  takeOne(task: OutboxTask, leaseMs: number): Promise<OutboxEntry | undefined>;
  /** How a task stands, without a change to it; undefined for one that is not outstanding. */
  find(task: OutboxTask): Promise<OutboxStanding | undefined>;
  /** As `find`, for several tasks. */
  findMany(tasks: readonly OutboxTask[]): Promise<OutboxStandings>;
  /** Removes a task, also one that is leased: a later report on it has no effect. With its tenant, also from the list. */
  remove(task: OutboxTask, tenant?: string): Promise<void>;
  /** Removes a task from the list of a tenant, unless it is outstanding. Processes of earlier versions do not keep the list. */
  unlist(task: OutboxTask, tenant: string): Promise<void>;
  /** Removes all tasks of a kind whose subject is a turn of the owner, or a part of one. */
  removeOf(owner: Owner, kind: string): Promise<void>;
  /**
   * Removes a task, unless it was leased again since. One that was noted again since is due at once, and the result is
   * true. False also where an earlier sending of the same report made it due.
   */
  done(entry: OutboxEntry): Promise<boolean>;
  /**
   * Counts an attempt and makes the task due in `inMs`, unless it was removed or leased again since. One that was noted
   * again since is due at once, and its attempts are counted from 1 again.
   */
  again(entry: OutboxEntry, inMs: number, failure?: DeliveryFailure): Promise<void>;
  /** Makes the task due in `inMs` under the same conditions, without counting an attempt. */
  giveBack(entry: OutboxEntry, inMs: number, failure?: DeliveryFailure): Promise<void>;
  /**
   * Makes the task due in `inMs` under the same conditions, and forgets its attempts. It leaves the list of deliveries
   * until it is noted again.
   */
  rest(entry: OutboxEntry, inMs: number): Promise<void>;
  /**
   * In how many ms the next task of these kinds in a bucket is due, at the end of its lease if it is leased; 0 when one is
   * due, undefined when there is none.
   */
  nextInMs(bucket: number, kinds: readonly string[]): Promise<number | undefined>;
  /**
   * Calls the listener when a task was noted or put off, on any process. A message may be lost, as one of an earlier version
   * always is. Returns what ends this.
   */
  watch(listener: (signal: OutboxSignal) => void): () => void;
  /** How long the longest due task of these kinds that is not leased has been due, in ms; 0 when there is none. */
  lagMs(kinds: readonly string[]): Promise<number>;
}
