import { setTimeout as sleep } from 'node:timers/promises';
import { ifAvailable } from '../async/retry-while-unavailable.ts';
import type { Elicitations } from '../ports/elicitations/elicitations.ts';

// A pod that is still expiring records repeats its note before the previous one ends.
const NOTE_EVERY_MS = 100;
const NOTE_MS = 500;
const LOOK_MS = 100;
const ANSWER_MS = 500;
// After this many looks, the pod at work is too slow, and this process helps.
const LOOKS_MAX = 20;

/**
 * Makes a function that notes that this process is expiring several records together. It limits how often the note is written.
 */
export function createExpiringNote({ noteExpiring }: Pick<Elicitations, 'noteExpiring'>): () => void {
  let notedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now - notedAt < NOTE_EVERY_MS) return;
    notedAt = now;
    noteExpiring(NOTE_MS).catch(() => undefined);
  };
}

/**
 * Leaves overdue records to the pods that asked, for at most two seconds. The returned function resolves with true after a
 * pause in which such a pod was at work. It resolves with false when no pod is; then this process may expire the records.
 */
export type LeaveToAskers = () => () => Promise<boolean>;

/** All buckets of a process share one look at the note. */
export function createLeaveToAskers(
  { isExpiring }: Pick<Elicitations, 'isExpiring'>,
  lookMs = LOOK_MS,
): LeaveToAskers {
  let looking: Promise<boolean> | undefined;

  async function look(): Promise<boolean> {
    // On a Cluster, the server with the note may hang; deadlines on other servers do not wait for it.
    const late = sleep(ANSWER_MS, undefined, { ref: false });
    if ((await Promise.race([ifAvailable(isExpiring), late])) !== true) return false;
    await sleep(lookMs);
    return true;
  }

  return () => {
    let looks = 0;
    return async () => {
      looks += 1;
      if (looks > LOOKS_MAX) return false;
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    };
  };
}
