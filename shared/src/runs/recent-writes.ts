import type { RunWrite } from '../ports/runs/runs.ts';

// Longer than what a crash (one second of unsynced writes) or a failover (unreplicated writes) can take.
const KEEP_MS = 20_000;

type Written = Pick<RunWrite, 'firstSeq' | 'events' | 'notes'>;

/** The writes of a run that Redis has acknowledged lately and may still lose. */
interface RecentWrites {
  /** Adds a write at its acknowledgement. */
  add(write: Written): void;
  /** The write with everything that was acknowledged lately before it. The run skips the events that it has. */
  withEarlier(write: RunWrite): RunWrite;
}

export function createRecentWrites(): RecentWrites {
  let recent: (Written & { readonly at: number })[] = [];
  return {
    add({ firstSeq, events, notes = [] }) {
      if (events.length + notes.length === 0) return;
      const at = performance.now();
      recent = [...recent.filter((write) => at - write.at < KEEP_MS), { firstSeq, events, notes, at }];
    },
    withEarlier: (write) => ({
      ...write,
      firstSeq: recent[0]?.firstSeq ?? write.firstSeq,
      events: [...recent, write].flatMap(({ events }) => events),
      notes: [...recent, write].flatMap(({ notes = [] }) => notes),
    }),
  };
}
