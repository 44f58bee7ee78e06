import type { Log } from '@parley/shared/runtime/log';
import type { Metrics } from '@parley/shared/runtime/metrics';
import type { ConnectEvent } from '../surfaces/connect/events.ts';

// Lines about requests that belong to no question: anybody can send those, as many as they like.
const LINES_MAX = 10;
const WINDOW_MS = 60_000;

export interface ConnectLogDeps {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'identityMismatch'>;
  /** In ms; only differences matter. */
  readonly clock?: () => number;
}

/**
 * Logs what happens on the hosted pages. Failures that belong to no question need no caller to be proven, so only ten a
 * minute are written; `suppressed` in the next line counts those left out.
 */
export function createConnectLog({ log, metrics, clock = () => performance.now() }: ConnectLogDeps) {
  let windowEndsAt = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let suppressed = 0;

  function isWritten(): boolean {
    const now = clock();
    if (now >= windowEndsAt) {
      windowEndsAt = now + WINDOW_MS;
      lines = 0;
    }
    lines += 1;
    if (lines <= LINES_MAX) return true;
    suppressed += 1;
    return false;
  }

  return (event: ConnectEvent, requestId?: string): void => {
    if (event.type === 'mismatch') metrics.identityMismatch.add(1);
    const isUnproven = event.type === 'failed' && event.elicitationId === undefined;
    if (isUnproven && !isWritten()) return;
    const left = isUnproven && suppressed > 0 ? { suppressed } : {};
    if (isUnproven) suppressed = 0;
    log.info({ ...event, requestId, ...left }, 'connect page');
  };
}
