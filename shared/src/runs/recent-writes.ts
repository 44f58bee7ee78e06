import type { RunWrite } from '../ports/runs/runs.ts';

// This is longer than the writes that a crash (one second of unsynced writes) or a failover (unreplicated writes) can lose.
const KEEP_MS = 20_000;

type Written = Pick<RunWrite, 'firstSeq' | 'events' | 'notes'>;

/** The recent writes of a run, which Redis has acknowledged but may still lose. */
interface RecentWrites {
  /** Adds a write when it is acknowledged. */
  add(write: Written): void;
  /** Puts all recently acknowledged writes in front of the given one. The run skips the events that it has. */
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
