import { bucketOf, bucketOfElicitationId } from '../domain/ids.ts';
import type { Outbox, OutboxEntry, OutboxTask } from '../ports/delivery/outbox.ts';

/** The outbox of one process, with the door by which its other parts note tasks. */
export interface MemoryOutbox extends Outbox {
  /** As `add`, within the atomic step of whoever calls. */
  note(task: OutboxTask): void;
}

const KINDS = ['wake', 'webhook'] as const satisfies readonly OutboxTask['kind'][];

interface Noted {
  readonly task: OutboxTask;
  readonly bucket: number | undefined;
  dueAt: number;
  lease: number;
  tries: number;
}

/** What has still to happen, in one process. */
export function createMemoryOutbox(): MemoryOutbox {
  const noted = new Map<string, Noted>();
  let leases = 0;

  function note(task: OutboxTask): void {
    const bucket = task.kind === 'wake' ? bucketOf(task.stream) : bucketOfElicitationId(task.elicitationId);
    noted.set(JSON.stringify(task), { task, bucket, dueAt: Date.now(), lease: 0, tries: 0 });
  }

  /** The task as it is noted, if this is the hand-out that counts. */
  function current({ task, lease }: OutboxEntry): Noted | undefined {
    const entry = noted.get(JSON.stringify(task));
    return entry?.lease === lease ? entry : undefined;
  }

  return {
    note,
    add: async (task) => note(task),
    async take(bucket, room, leaseMs) {
      const now = Date.now();
      const due = [...noted.values()]
        .filter((entry) => entry.bucket === bucket && entry.dueAt <= now)
        .sort((a, b) => a.dueAt - b.dueAt);
      const fitting = KINDS.flatMap((kind) =>
        due.filter(({ task }) => task.kind === kind).slice(0, Math.max(0, room[kind])),
      );
      return fitting.map((entry) => {
        entry.dueAt = now + leaseMs;
        leases += 1;
        entry.lease = leases;
        return { task: entry.task, lease: entry.lease, attempt: entry.tries + 1 };
      });
    },
    async done(entry) {
      if (current(entry) !== undefined) noted.delete(JSON.stringify(entry.task));
    },
    async again(entry, inMs) {
      const known = current(entry);
      if (known === undefined) return;
      known.tries += 1;
      known.dueAt = Date.now() + inMs;
    },
    async giveBack(entry, inMs) {
      const known = current(entry);
      if (known !== undefined) known.dueAt = Date.now() + inMs;
    },
    async lagMs() {
      const now = Date.now();
      return [...noted.values()].reduce((lag, { dueAt }) => Math.max(lag, now - dueAt), 0);
    },
  };
}
