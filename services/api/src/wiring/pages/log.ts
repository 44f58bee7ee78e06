import type { Log } from '@parley/shared/observe/log';
import type { Metrics } from '@parley/shared/observe/metrics';
import type { AccountEvent } from '../../accounts/events.ts';
import { createLineLimit } from '../line-limit.ts';

interface PageLogDeps {
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'identityMismatch'>;
  /** Returns ms; only differences matter. */
  readonly clock?: () => number;
}

/**
 * Logs events of the hosted pages. Anybody can cause failures that belong to no question, so only ten a minute are written.
 * `suppressed` in the next line counts the omitted ones.
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
