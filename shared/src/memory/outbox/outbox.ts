/**
 * The outbox of one process: outstanding tasks, their leases, and the deliveries that tenants see. Handling a task is in
 * `delivery/`.
 */

import { formatOwnerPath } from '@parley/core/domain/ids';
import {
  type DeliveryFailure,
  type Outbox,
  type OutboxEntry,
  type OutboxSignal,
  type OutboxStanding,
  type OutboxTask,
  streamOfSubject,
} from '../../ports/delivery/outbox.ts';
import type { SubscribingKind } from '../../ports/delivery/subscriptions.ts';
import { RESUME_RUN } from '../../ports/runs/resume-task.ts';
import type { ChangeWord } from '../../ports/tenant-changes.ts';
import type { MemoryTenantChanges } from '../tenant-changes.ts';

interface NoteOptions {
  readonly afterMs?: number;
  /** The tenant whose list contains the task. */
  readonly tenant?: string;
}

/** The outbox of one process. The other stores of the process note tasks in it synchronously. */
export interface MemoryOutbox extends Outbox {
  /**
   * The same as `add`, but synchronous, as a part of the caller's atomic step. With `afterMs`, the task is due after that time.
   */
  note(task: OutboxTask, options?: NoteOptions): void;
  /** The outstanding tasks in the lists of tenants, each with the time (ms) when it was first noted. */
  listed(): readonly TenantTask[];
  /** Removes every task with this subject. */
  removeAbout(subject: string): void;
}

/** A task that a tenant's list contains. */
export interface TenantTask {
  readonly task: OutboxTask;
  readonly tenant: string;
  readonly since: number;
}

interface Outstanding {
  readonly task: OutboxTask;
  dueAt: number;
  lease: number;
  tries: number;
  /** True from the start of a lease until its result is reported. */
  isLent: boolean;
  /** True when the task was noted again during the lease. */
  isNoted: boolean;
  failure: DeliveryFailure | undefined;
  tenant: string | undefined;
  since: number;
}

// Tasks of these kinds only lead to other tasks inside Parley, so tenants do not see them.
const INNER_KINDS: ReadonlySet<string> = new Set([RESUME_RUN, 'a2a-push' satisfies SubscribingKind]);

/** The outstanding tasks of one process. */
export function createMemoryOutbox(changes?: Pick<MemoryTenantChanges, 'announce'>): MemoryOutbox {
  const outstanding = new Map<string, Outstanding>();
  const listeners = new Set<(signal: OutboxSignal) => void>();
  let leases = 0;

  function announce({ bucket }: OutboxTask, inMs: number): void {
    for (const listener of listeners) listener({ type: 'due', bucket, inMs });
  }

  function note(task: OutboxTask, { afterMs = 0, tenant }: NoteOptions = {}): void {
    const now = Date.now();
    const found = outstanding.get(identityOf(task));
    const listedIn = found?.tenant ?? (INNER_KINDS.has(task.kind) ? undefined : tenant);
    const listed = { tenant: listedIn, since: found?.tenant === undefined ? now : found.since };
    if (found?.isLent === true && found.dueAt > now) Object.assign(found, { ...listed, isNoted: true });
    else {
      const fresh = { task, dueAt: now + afterMs, lease: 0, tries: 0, isLent: false, isNoted: false };
      outstanding.set(identityOf(task), { ...fresh, ...listed, failure: undefined });
      announce(task, afterMs);
    }
  }

  /** Announces a change of a delivery to the watchers of its tenant. */
  function tell({ subject }: OutboxTask, tenant: string | undefined, change: ChangeWord): void {
    if (tenant === undefined) return;
    const stream = streamOfSubject(subject);
    const about =
      stream === undefined ? { id: subject } : { id: stream.streamRequestId, userId: stream.userId };
    changes?.announce({ kind: 'delivery', tenant, change, ...about });
  }

  function lend(one: Outstanding, leaseMs: number): OutboxEntry {
    // The previous holder died before reporting. The new lease also covers what was noted since, so its attempts start at zero.
    if (one.isNoted) Object.assign(one, { tries: 0, failure: undefined });
    leases += 1;
    Object.assign(one, { dueAt: Date.now() + leaseMs, lease: leases, isLent: true, isNoted: false });
    const { task, tenant } = one;
    return { task, lease: one.lease, attempt: one.tries + 1, ...(tenant !== undefined && { tenant }) };
  }

  /**
   * Ends a lease and returns its task; undefined when a later lease has replaced this one. Returns `noted` when the task was
   * noted again during the lease and is therefore due.
   */
  function report({ task, lease }: OutboxEntry): Outstanding | 'noted' | undefined {
    const found = outstanding.get(identityOf(task));
    if (found?.lease !== lease) return undefined;
    // Clearing the lease makes a repeat of the same report count nothing.
    Object.assign(found, { isLent: false, lease: 0 });
    if (!found.isNoted) return found;
    note(task);
    return 'noted';
  }

  function putOff(one: Outstanding, inMs: number, failure: DeliveryFailure | undefined): void {
    one.dueAt = Date.now() + inMs;
    announce(one.task, inMs);
    if (failure === undefined) return;
    one.failure = failure;
    tell(one.task, one.tenant, 'changed');
  }

  function standingOf(task: OutboxTask): OutboxStanding | undefined {
    const found = outstanding.get(identityOf(task));
    if (found === undefined) return undefined;
    const dueInMs = Math.max(0, found.dueAt - Date.now());
    const { tries: attempts, isLent, failure } = found;
    return { dueInMs, attempts, isLeased: isLent && dueInMs > 0, ...(failure !== undefined && { failure }) };
  }

  return {
    note,
    async removeOf(owner, kind) {
      const beginning = `${formatOwnerPath(owner)}/`;
      for (const { task } of outstanding.values())
        if (task.kind === kind && task.subject.startsWith(beginning)) outstanding.delete(identityOf(task));
    },
    removeAbout(subject) {
      for (const { task } of outstanding.values())
        if (task.subject === subject) outstanding.delete(identityOf(task));
    },
    listed: () =>
      [...outstanding.values()].flatMap(({ task, tenant, since }) =>
        tenant === undefined ? [] : [{ task, tenant, since }],
      ),
    async add(task, tenant) {
      note(task, tenant === undefined ? {} : { tenant });
      tell(task, tenant, 'began');
    },
    async take(bucket, room, leaseMs) {
      const now = Date.now();
      const due = [...outstanding.values()]
        .filter(({ task, dueAt }) => task.bucket === bucket && dueAt <= now)
        .sort((a, b) => a.dueAt - b.dueAt);
      const fitting = Object.entries(room).flatMap(([kind, places]) =>
        due.filter(({ task }) => task.kind === kind).slice(0, Math.max(0, places)),
      );
      return fitting.map((one) => lend(one, leaseMs));
    },
    occupied(kinds) {
      const tasks = [...outstanding.values()].map(({ task }) => task);
      const buckets = tasks.filter(({ kind }) => kinds.includes(kind)).map(({ bucket }) => bucket);
      return [Promise.resolve([...new Set(buckets)])];
    },
    async takeOne(task, leaseMs) {
      const found = outstanding.get(identityOf(task));
      return found !== undefined && found.dueAt <= Date.now() ? lend(found, leaseMs) : undefined;
    },
    find: async (task) => standingOf(task),
    findMany: async (tasks) => ({ now: Date.now(), standings: tasks.map(standingOf) }),
    async remove(task) {
      outstanding.delete(identityOf(task));
    },
    // The list of a tenant is derived from the outstanding tasks, so nothing has to be removed from it.
    unlist: async () => undefined,
    async done(entry) {
      const found = report(entry);
      if (found === 'noted') return true;
      if (found === undefined) return false;
      outstanding.delete(identityOf(entry.task));
      tell(entry.task, found.tenant, 'ended');
      return false;
    },
    async again(entry, inMs, failure) {
      const found = report(entry);
      if (found === undefined || found === 'noted') return;
      found.tries += 1;
      putOff(found, inMs, failure);
    },
    async giveBack(entry, inMs, failure) {
      const found = report(entry);
      if (found === undefined || found === 'noted') return;
      putOff(found, inMs, failure);
    },
    async rest(entry, inMs) {
      const found = report(entry);
      if (found === undefined || found === 'noted') return;
      const { tenant } = found;
      Object.assign(found, { tries: 0, failure: undefined, tenant: undefined });
      putOff(found, inMs, undefined);
      tell(entry.task, tenant, 'ended');
    },
    async nextInMs(bucket, kinds) {
      const times = [...outstanding.values()]
        .filter(({ task }) => task.bucket === bucket && kinds.includes(task.kind))
        .map(({ dueAt }) => dueAt);
      return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - Date.now());
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async lagMs(kinds) {
      const now = Date.now();
      return [...outstanding.values()]
        .filter(({ task }) => kinds.includes(task.kind))
        .reduce((lag, { dueAt }) => Math.max(lag, now - dueAt), 0);
    },
  };
}

function identityOf({ kind, subject, version }: OutboxTask): string {
  return JSON.stringify([kind, subject, version]);
}
