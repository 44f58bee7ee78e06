import type { Log } from '@parley/shared/observe/log';
import type { Metrics } from '@parley/shared/observe/metrics';
import type { AccountEvent } from '../../accounts/events.ts';
import { createLineLimit } from '../line-limit.ts';

interface PageLogDeps {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'identityMismatch'>;
  /** In ms; only differences matter. */
  readonly clock?: () => number;
}

/**
 * Logs what happens on the hosted pages. Failures that belong to no question need no caller to be proven, so only ten a
 * minute are written; `suppressed` in the next line counts those left out.
 */
export function createPageLog({ log, metrics, clock = () => performance.now() }: PageLogDeps) {
  const limit = createLineLimit(clock);

  return (event: AccountEvent, requestId?: string): void => {
    if (event.type === 'mismatch') metrics.identityMismatch.add(1);
    const isUnproven = event.type === 'failed' && event.elicitationId === undefined;
    const suppressed = isUnproven ? limit() : 0;
    if (suppressed === undefined) return;
    log.info({ ...event, requestId, ...(suppressed > 0 && { suppressed }) }, 'connect page');
  };
}
