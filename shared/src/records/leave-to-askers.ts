import { setTimeout as sleep } from 'node:timers/promises';
import { ifAvailable } from '../async/retry-while-unavailable.ts';
import type { Elicitations } from '../ports/elicitations/elicitations.ts';

// A pod that is at work says so again before the last note is over.
const NOTE_EVERY_MS = 100;
const NOTE_MS = 500;
const LOOK_MS = 100;
const ANSWER_MS = 500;
// A pod that does not get on is helped then.
const LOOKS_MAX = 20;

/** Notes that this process expires several records together, at most once in a while. */
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
 * Begins to leave overdue records to the pods that asked, two seconds at most. The returned function resolves with true
 * after a pause in which such a pod was at work, and with false when nobody is: then the records are this process's to expire.
 */
export type LeaveToAskers = () => () => Promise<boolean>;

/** Makes what leaves records to pods. All buckets of a process look together. */
export function createLeaveToAskers(
  { isExpiring }: Pick<Elicitations, 'isExpiring'>,
  lookMs = LOOK_MS,
): LeaveToAskers {
  let looking: Promise<boolean> | undefined;

  async function look(): Promise<boolean> {
    // On a Cluster, the server that would know may hang; the deadlines of the others do not wait for it.
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
