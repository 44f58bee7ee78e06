import type { Outbox, OutboxEntry, OutboxTask } from '../../ports/delivery/outbox.ts';

/** The outbox of one process. The other stores of the process note tasks in it synchronously. */
export interface MemoryOutbox extends Outbox {
  /** Like `add`, within the atomic step of the caller. */
  note(task: OutboxTask): void;
  /** Removes every task about a subject. */
  removeOf(subject: string): void;
}

interface Outstanding {
  readonly task: OutboxTask;
  dueAt: number;
  lease: number;
  tries: number;
}

/** The outstanding tasks of one process. */
export function createMemoryOutbox(): MemoryOutbox {
  const outstanding = new Map<string, Outstanding>();
  let leases = 0;

  function note(task: OutboxTask): void {
    outstanding.set(identityOf(task), { task, dueAt: Date.now(), lease: 0, tries: 0 });
  }

  /** The outstanding task of an entry, unless it was handed out again or added again since. */
  function current({ task, lease }: OutboxEntry): Outstanding | undefined {
    const found = outstanding.get(identityOf(task));
    return found?.lease === lease ? found : undefined;
  }

  return {
    note,
    removeOf(subject) {
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
      return fitting.map((one) => {
        leases += 1;
        one.dueAt = now + leaseMs;
        one.lease = leases;
        return { task: one.task, lease: one.lease, attempt: one.tries + 1 };
      });
    },
    async remove(task) {
      outstanding.delete(identityOf(task));
    },
    async done(entry) {
      if (current(entry) !== undefined) outstanding.delete(identityOf(entry.task));
    },
    async again(entry, inMs) {
      const found = current(entry);
      if (found === undefined) return;
      found.tries += 1;
      found.dueAt = Date.now() + inMs;
    },
    async giveBack(entry, inMs) {
      const found = current(entry);
      if (found !== undefined) found.dueAt = Date.now() + inMs;
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
