/**
 * The port for work that must follow a commit: a commit notes a task, and any process leases and handles it. The handlers are
 * delivery kinds (`kind.ts`) and not known here.
 */

import { type Owner, parseStreamPath, type StreamRef } from '@parley/core/domain/ids';

/**
 * Work that must follow a commit, which notes the task in the outbox. Tasks with the same kind, subject and version are one
 * task.
 */
export interface OutboxTask {
  /** The name of the delivery kind that handles the task. */
  readonly kind: string;
  /**
   * The subject of the task, without white space: the id of a record; or the path of a turn (`formatStreamPath`), which the
   * kind may extend.
   */
  readonly subject: string;
  /**
   * The version of the subject for which the task is noted, a whole number. Absent for kinds whose subjects have no versions.
   */
  readonly version?: number;
  /** The bucket (0 to 63) of the subject's owner. */
  readonly bucket: number;
}

/** The turn in a subject that begins with a turn's path; undefined for the id of a record. */
export function streamOfSubject(subject: string): StreamRef | undefined {
  return parseStreamPath(subject.split('/', 3).join('/'));
}

/** A leased task. */
export interface OutboxEntry {
  readonly task: OutboxTask;
  /** The ordinal of this attempt, from 1. A lease whose holder died before reporting does not count. */
  readonly attempt: number;
  /** The fencing token of this lease: a report with an older token has no effect. */
  readonly lease: number;
  /** The tenant whose list of deliveries contains the task; absent for a task in no list. */
  readonly tenant?: string;
}

/** Why an attempt failed: a stable code, never a text from outside. */
export interface DeliveryFailure {
  readonly code: string;
  /** The HTTP status of the receiver's reply, if it replied. */
  readonly status?: number;
}

/** The state of an outstanding task. */
export interface OutboxStanding {
  /** Milliseconds until the task is due, or until the end of its lease; 0 when it is due. */
  readonly dueInMs: number;
  /** The number of failed attempts. */
  readonly attempts: number;
  readonly isLeased: boolean;
  /** Why the last attempt failed or was postponed, if its handler gave a reason. */
  readonly failure?: DeliveryFailure;
}

/** The states of several tasks, in the order of the request, at one time of the store's clock (ms). */
interface OutboxStandings {
  readonly now: number;
  readonly standings: readonly (OutboxStanding | undefined)[];
}

/**
 * The result of handling a task. `done`: the task is removed. `retryInMs`: the attempt failed, and the task is due again after
 * that time. `deferInMs`: no attempt was made, so none is counted, and the task is due again after that time. `restInMs`:
 * everything so far is delivered, but more may follow; after that time the task is due again with no attempts counted, and
 * until it is noted again it is in no list of deliveries.
 */
export type OutboxResult =
  | 'done'
  | { readonly retryInMs: number; readonly failure?: DeliveryFailure }
  | { readonly deferInMs: number; readonly failure?: DeliveryFailure }
  | { readonly restInMs: number };

/** The free places by delivery kind, which limit how many tasks of each kind are leased. */
export type OutboxRoom = Readonly<Record<string, number>>;

/** `due`: a task of a bucket is due in `inMs`. `resync`: signals about the bucket may have been missed. */
export type OutboxSignal =
  | { readonly type: 'due'; readonly bucket: number; readonly inMs: number }
  | { readonly type: 'resync'; readonly bucket: number };

/**
 * The outstanding tasks, by bucket. A task stays until it is done, and is leased to one process at a time. If a commit or `add`
 * notes a task again during a lease, the task is leased once more, after the lease was reported on or has lapsed. Every method
 * throws `unavailable`.
 */
export interface Outbox {
  /**
   * Notes a task outside of a commit. The task is due at once unless it is leased, and its attempts count from 1 again. With
   * `tenant`, the tenant's list of deliveries (`TenantLists`) contains the task until it is done, as for tasks of commits.
   */
  add(task: OutboxTask, tenant?: string): Promise<void>;
  /** Leases due tasks of a bucket for `leaseMs`: of each kind at most as many as `room` says, the longest due first. */
  take(bucket: number, room: OutboxRoom, leaseMs: number): Promise<readonly OutboxEntry[]>;
  /** The buckets with tasks of these kinds, due or not. Each part of the result may fail or hang independently. */
  occupied(kinds: readonly string[]): readonly Promise<readonly number[]>[];
  /** Leases this task if it is due and not leased. */
  takeOne(task: OutboxTask, leaseMs: number): Promise<OutboxEntry | undefined>;
  /** The state of a task; undefined when it is not outstanding. Changes nothing. */
  find(task: OutboxTask): Promise<OutboxStanding | undefined>;
  /** The same as `find`, for several tasks. */
  findMany(tasks: readonly OutboxTask[]): Promise<OutboxStandings>;
  /**
   * Removes a task, even a leased one; a later report on it has no effect. With `tenant`, also removes it from the tenant's
   * list.
   */
  remove(task: OutboxTask, tenant?: string): Promise<void>;
  /** Removes a task from a tenant's list unless it is outstanding. Processes of earlier versions do not maintain the list. */
  unlist(task: OutboxTask, tenant: string): Promise<void>;
  /** Removes all tasks of a kind whose subjects are turns of the owner, or parts of such turns. */
  removeOf(owner: Owner, kind: string): Promise<void>;
  /**
   * Reports `done`. Removes the task, unless it has been leased again. If it was noted again during the lease, it is due at
   * once instead, and the result is true. The result is false if an earlier copy of this report already had that effect.
   */
  done(entry: OutboxEntry): Promise<boolean>;
  /**
   * Reports a failed attempt. Makes the task due in `inMs`, unless it was removed or leased again. If it was noted again during
   * the lease, it is due at once, and its attempts count from 1 again.
   */
  again(entry: OutboxEntry, inMs: number, failure?: DeliveryFailure): Promise<void>;
  /** Reports that no attempt was made. Makes the task due in `inMs` under the same conditions as `again`. */
  giveBack(entry: OutboxEntry, inMs: number, failure?: DeliveryFailure): Promise<void>;
  /**
   * Makes the task due in `inMs` under the same conditions as `again`, and forgets its attempts. Until it is noted again, no
   * list of deliveries contains it.
   */
  rest(entry: OutboxEntry, inMs: number): Promise<void>;
  /**
   * Milliseconds until the next task of these kinds in a bucket is due, or until its lease ends; 0 when one is due, undefined
   * when there is none.
   */
  nextInMs(bucket: number, kinds: readonly string[]): Promise<number | undefined>;
  /**
   * Calls the listener when any process notes or postpones a task. A signal may be lost, and processes of an earlier version
   * send none. Returns the function that stops watching.
   */
  watch(listener: (signal: OutboxSignal) => void): () => void;
  /** For how long the oldest due and unleased task of these kinds has been due, in ms; 0 when there is none. */
  lagMs(kinds: readonly string[]): Promise<number>;
}
