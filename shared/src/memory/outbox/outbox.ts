import { formatOwnerPath } from '@parley/core/domain/ids';
import type { Outbox, OutboxEntry, OutboxSignal, OutboxTask } from '../../ports/delivery/outbox.ts';

/** The outbox of one process. The other stores of the process note tasks in it synchronously. */
export interface MemoryOutbox extends Outbox {
  /** Like `add`, within the atomic step of the caller. It is due after `afterMs`, where given. */
  note(task: OutboxTask, afterMs?: number): void;
  /** Removes every task about a subject. */
  removeAbout(subject: string): void;
}

interface Outstanding {
  readonly task: OutboxTask;
  dueAt: number;
  lease: number;
  tries: number;
  /** True from the beginning of a lease until the report on it. */
  isLent: boolean;
  /** True when the task was noted during the lease. */
  isNoted: boolean;
}

/** The outstanding tasks of one process. */
export function createMemoryOutbox(): MemoryOutbox {
  const outstanding = new Map<string, Outstanding>();
  const listeners = new Set<(signal: OutboxSignal) => void>();
  let leases = 0;

  function announce({ bucket }: OutboxTask, inMs: number): void {
    for (const listener of listeners) listener({ type: 'due', bucket, inMs });
  }

  function note(task: OutboxTask, afterMs = 0): void {
    const now = Date.now();
    const found = outstanding.get(identityOf(task));
    if (found?.isLent === true && found.dueAt > now) found.isNoted = true;
    else {
      const fresh = { task, dueAt: now + afterMs, lease: 0, tries: 0, isLent: false, isNoted: false };
      outstanding.set(identityOf(task), fresh);
      announce(task, afterMs);
    }
  }

  function lend(one: Outstanding, leaseMs: number): OutboxEntry {
    // The holder died before it reported, and this lease includes what was noted since.
    if (one.isNoted) one.tries = 0;
    leases += 1;
    Object.assign(one, { dueAt: Date.now() + leaseMs, lease: leases, isLent: true, isNoted: false });
    return { task: one.task, lease: one.lease, attempt: one.tries + 1 };
  }

  /** Ends a lease. Returns its task, unless a later lease has replaced it; `noted` when it was noted during the lease and is due. */
  function report({ task, lease }: OutboxEntry): Outstanding | 'noted' | undefined {
    const found = outstanding.get(identityOf(task));
    if (found?.lease !== lease) return undefined;
    // The same report that is sent again counts nothing.
    Object.assign(found, { isLent: false, lease: 0 });
    if (!found.isNoted) return found;
    note(task);
    return 'noted';
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
    add: async (task) => note(task),
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
    async find(task) {
      const found = outstanding.get(identityOf(task));
      if (found === undefined) return undefined;
      const dueInMs = Math.max(0, found.dueAt - Date.now());
      return { dueInMs, attempts: found.tries, isLeased: found.isLent && dueInMs > 0 };
    },
    async remove(task) {
      outstanding.delete(identityOf(task));
    },
    async done(entry) {
      const found = report(entry);
      if (found === 'noted') return true;
      if (found !== undefined) outstanding.delete(identityOf(entry.task));
      return false;
    },
    async again(entry, inMs) {
      const found = report(entry);
      if (found === undefined || found === 'noted') return;
      found.tries += 1;
      found.dueAt = Date.now() + inMs;
      announce(entry.task, inMs);
    },
    async giveBack(entry, inMs) {
      const found = report(entry);
      if (found === undefined || found === 'noted') return;
      found.dueAt = Date.now() + inMs;
      announce(entry.task, inMs);
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
