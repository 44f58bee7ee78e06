import type { Log } from '@parley/shared/runtime/log';

const PAUSE_MS = 10_000;
const KINDS_MAX = 100;

/**
 * Makes a log of faults in the background: the same one at most every ten seconds, for an outage of Redis makes every
 * connection say so again and again. `job` is the kind of job that failed, if one did.
 */
export function createFaultLog(log: Pick<Log, 'warn'>): (error: unknown, job?: string) => void {
  const heardAt = new Map<string, number>();
  return (error, job) => {
    const kind = `${job ?? ''} ${error instanceof Error ? error.message : String(error)}`;
    const now = performance.now();
    if (now - (heardAt.get(kind) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS) return;
    if (heardAt.size >= KINDS_MAX) heardAt.clear();
    heardAt.set(kind, now);
    log.warn({ err: error, job }, job === undefined ? 'worker fault, going on' : 'job failed');
  };
}
