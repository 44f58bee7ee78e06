import type { Log } from '@parley/shared/observe/log';

const PAUSE_MS = 10_000;
const KINDS_MAX = 100;

/**
 * Makes a log of background faults. It logs the same fault at most every ten seconds, because every connection reports
 * an outage of Redis repeatedly. `job` is the kind of job that failed, if any.
 */
export function createFaultLog(log: Pick<Log, 'warn'>): (error: unknown, job?: string) => void {
  const loggedAt = new Map<string, number>();
  return (error, job) => {
    const kind = `${job ?? ''} ${error instanceof Error ? error.message : String(error)}`;
    const now = performance.now();
    if (now - (loggedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return;
    if (loggedAt.size >= KINDS_MAX) loggedAt.clear();
    loggedAt.set(kind, now);
    log.warn({ err: error, job }, job === undefined ? 'worker fault; the worker continues' : 'job failed');
  };
}
